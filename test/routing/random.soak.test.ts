import { compareWithOracle } from './random-suite.ts';

compareWithOracle(300);
