export { familiesOf, scrapeProblems, type Family } from './scrape-problems.ts';
