/** What a scrape says of one metric. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** Names of its samples, with their labels. */
  readonly samples: readonly { readonly name: string; readonly labels: readonly string[] }[];
}

const SUFFIXES = /_(?:bucket|sum|count)$/;
const OTHER_UNITS =
  /_(?:ms|msec|milliseconds?|us|microseconds?|ns|nanoseconds?|minutes?|hours?|days?|weeks?|kb|mb|gb|kib|mib|gib|kilobytes?|megabytes?|gigabytes?|bits?|percent)(?:_|$)/;
const SHORT_UNITS = /_(?:s|sec|secs|b)(?:_|$)/;

/** Reads Prometheus' text format, of which a metric's help and type come before its samples. */
export function familiesOf(scrape: string): Family[] {
  const help = new Map<string, string>();
  const type = new Map<string, string>();
  const samples = new Map<string, Map<string, Family['samples'][number]>>();
  const note = (family: string, name: string, labels: string[]): void => {
    const kept = samples.get(family) ?? new Map<string, Family['samples'][number]>();
    samples.set(family, kept.set(JSON.stringify([name, labels]), { name, labels }));
  };
  for (const line of scrape.split('\n')) {
    const comment = /^# (?<what>HELP|TYPE) (?<name>\S+) ?(?<words>.*)$/.exec(line)?.groups;
    if (comment !== undefined) {
      (comment['what'] === 'HELP' ? help : type).set(comment['name']!, comment['words']!);
      continue;
    }
    const sample = /^(?<name>[^\s{]+)(?:\{(?<labels>.*)\})? \S+$/.exec(line)?.groups;
    if (sample === undefined) continue;
    const labels = Array.from(
      (sample['labels'] ?? '').matchAll(/([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"/g),
      ([, label]) => label!,
    );
    const name = sample['name']!;
    const family = type.has(name) ? name : name.replace(SUFFIXES, '');
    note(family, name, labels);
  }
  const names = new Set([...help.keys(), ...type.keys(), ...samples.keys()]);
  return Array.from(names, (name) => ({
    name,
    help: help.get(name) ?? '',
    type: type.get(name) ?? 'untyped',
    samples: [...(samples.get(name)?.values() ?? [])],
  }));
}

/** The rules of `promtool check metrics`, by our own words: one line for each that is broken. */
export function scrapeProblems(scrape: string): string[] {
  const families = familiesOf(scrape);
  if (families.length === 0) return ['the scrape is empty'];
  return families.flatMap((family) => problemsOf(family).map((problem) => `${family.name}: ${problem}`));
}

function problemsOf({ name, help, type, samples }: Family): string[] {
  const isHistogram = type === 'histogram' || type === 'summary';
  const labels = new Set(samples.flatMap((sample) => sample.labels));
  const rules: readonly (readonly [boolean, string])[] = [
    [help.trim() === '', 'has no help text'],
    [type === 'untyped', 'has no type'],
    [!/^[a-z][a-z0-9_]*$/.test(name), 'is not in snake case'],
    [type === 'counter' && !name.endsWith('_total'), 'is a counter and does not end in _total'],
    [type !== 'counter' && name.endsWith('_total'), 'ends in _total and is no counter'],
    [!isHistogram && SUFFIXES.test(name), 'ends as a part of a histogram does'],
    [!isHistogram && labels.has('le'), 'has the label le and is no histogram'],
    [OTHER_UNITS.test(name), 'is not in the base unit: seconds, bytes, ratios'],
    [SHORT_UNITS.test(name), 'has a shortened unit'],
    [new RegExp(`_${type}(?:_|$)`).test(name), 'has its type in its name'],
    [[...labels].some((label) => !/^[a-z][a-z0-9_]*$/.test(label)), 'has a label that is not in snake case'],
  ];
  return rules.flatMap(([isBroken, words]) => (isBroken ? [words] : []));
}
