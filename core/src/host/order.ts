import { PluginError } from '../contract/errors.ts';
import { didYouMean } from '../contract/nearest.ts';

interface Ordered {
  readonly plugin: { readonly name: string; readonly after?: readonly string[] };
}

/** The order given, moved only as far as `after` asks: a plugin stands directly behind the last one that it waits for. */
export function sortPlugins<P extends Ordered>(enabled: readonly P[]): P[] {
  const byName = new Map<string, P>();
  for (const entry of enabled) {
    const { name } = entry.plugin;
    if (byName.has(name)) {
      throw new PluginError(
        'PLUGIN_ORDER',
        name,
        'two plugins have this name; rename or disable one of them',
      );
    }
    byName.set(name, entry);
  }
  const done = new Set<P>();
  const visit = (entry: P, path: readonly string[]): void => {
    const { name } = entry.plugin;
    if (done.has(entry)) return;
    if (path.includes(name)) throw circle([...path.slice(path.indexOf(name)), name]);
    for (const first of entry.plugin.after ?? []) {
      const found = byName.get(first);
      if (found === undefined) throw unknownAfter(name, first, byName.keys());
      visit(found, [...path, name]);
    }
    done.add(entry);
  };
  for (const entry of enabled) visit(entry, []);
  return [...done];
}

function circle(names: readonly string[]): PluginError {
  return new PluginError(
    'PLUGIN_ORDER',
    names[0]!,
    `\`after\` goes in a circle: ${names.join(' → ')}; remove one of these`,
  );
}

function unknownAfter(name: string, first: string, known: Iterable<string>): PluginError {
  const names = [...known];
  return new PluginError(
    'PLUGIN_ORDER',
    name,
    `must be set up after "${first}", which is not enabled${didYouMean(first, names)} ` +
      `(enabled: ${names.join(', ')}); enable it or correct \`after\``,
  );
}
