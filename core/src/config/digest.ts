import type { MergedConfig, Origin } from '../contract/config.ts';
import { canonicalJson } from '../values/canonical-json.ts';

/** Hex SHA-256 of a text. Injected: the modules of the configuration know no runtime. */
export type Hash = (text: string) => string;

interface Originated {
  readonly origin: Origin;
}

/** Without positions: a comment above a template moves it, and changes nothing. */
function withoutPosition(content: Originated): object {
  const { kind, source } = content.origin;
  return { ...content, origin: { kind, source } };
}

function contentsOf(contents: Readonly<Record<string, Originated>>): object {
  return Object.fromEntries(
    Object.entries(contents).map(([name, content]) => [name, withoutPosition(content)]),
  );
}

/** The digest of what a configuration says; who overrode whom is not part of it. */
export function digestOf(config: Omit<MergedConfig, 'digest'>, hash: Hash): string {
  const { overrides: _overrides, ...said } = config;
  return hash(
    canonicalJson({
      ...said,
      haproxyConfig: withoutPosition(config.haproxyConfig),
      templateSnippets: contentsOf(config.templateSnippets),
      maps: contentsOf(config.maps),
      files: contentsOf(config.files),
      sslCertificates: contentsOf(config.sslCertificates),
      k8sResources: contentsOf(config.k8sResources),
      annotations: contentsOf(config.annotations),
      validationTests: contentsOf(config.validationTests),
    }),
  );
}
