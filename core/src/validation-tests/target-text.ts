import { stringify } from 'yaml';
import { parseTarget, type Target } from '../config/target.ts';
import { Bug } from '../contract/errors.ts';
import { didYouMean } from '../contract/nearest.ts';
import type { Json, JsonObject } from '../contract/object.ts';
import { filePath, MAIN_CONFIG } from '../contract/paths.ts';
import type { PlannedEvent, Rendered } from '../contract/render-plan.ts';
import type { RenderOutcome } from './outcome.ts';
import { isSecretObject, isSecretPlan, shownLines } from './secrets.ts';

interface Nothing {
  readonly kind: 'none';
  readonly reason: string;
}

/** What an assertion looks at, or why there is nothing to look at. */
export type TargetText =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** Its lines as a message may show them; undefined: none. */
      readonly shown: readonly string[] | undefined;
    }
  | Nothing;

export type TargetData = { readonly kind: 'data'; readonly data: Json; readonly secret: boolean } | Nothing;

function none(reason: string): Nothing {
  return { kind: 'none', reason };
}

function plainText(text: string, secret = false): TargetText {
  return { kind: 'text', text, shown: secret ? undefined : text.split('\n') };
}

/** One line an event: `Ingress shop/web InvalidAnnotation: …`. */
function eventLine({ object, reason, message }: PlannedEvent): string {
  const name = object.namespace === '' ? object.name : `${object.namespace}/${object.name}`;
  return `${object.kind} ${name} ${reason}: ${message}`;
}

function fileText(rendered: Rendered, path: string): TargetText {
  const paths = rendered.files.entries.map((candidate) => candidate.path);
  if (!paths.includes(path)) return none(`no file ${path} was rendered${didYouMean(path, paths)}`);
  const text = new TextDecoder().decode(rendered.files.read(path));
  return { kind: 'text', text, shown: shownLines(rendered, path) };
}

function resources({ resources: all = new Map<string, readonly JsonObject[]>() }: Rendered, name: string) {
  return (
    all.get(name) ?? none(`no template "${name}" in k8sResources was rendered${didYouMean(name, all.keys())}`)
  );
}

function statuses({ plan }: Rendered, { namespace, name }: Extract<Target, { kind: 'status' }>) {
  const nameOf = ({ object }: JsonObject): string => {
    const { namespace: space = '', name: own = '' } = object as { namespace?: string; name?: string };
    return `${space}/${own}`;
  };
  const wanted = `${namespace}/${name}`;
  const found = plan.statuses.filter((status) => nameOf(status) === wanted);
  return found.length > 0
    ? found
    : none(`no status of ${wanted} was rendered${didYouMean(wanted, plan.statuses.map(nameOf))}`);
}

/** The objects of a target that has any. */
function objectsOf(
  rendered: Rendered,
  target: Extract<Target, { kind: 'k8s' | 'status' }>,
): readonly JsonObject[] | Nothing {
  return target.kind === 'k8s' ? resources(rendered, target.name) : statuses(rendered, target);
}

function isNothing(value: readonly JsonObject[] | Nothing): value is Nothing {
  return !Array.isArray(value);
}

function renderedText(rendered: Rendered, target: Target): TargetText {
  switch (target.kind) {
    case 'main-config':
      return fileText(rendered, MAIN_CONFIG);
    case 'named-file':
      return fileText(rendered, filePath(target.file, target.name));
    case 'k8s':
    case 'status': {
      const objects = objectsOf(rendered, target);
      if (isNothing(objects)) return objects;
      const text = objects.map((object) => stringify(object, { lineWidth: 0 })).join('---\n');
      return plainText(text, objects.some(isSecretObject));
    }
    case 'events':
      return plainText(rendered.plan.events.map(eventLine).join('\n'));
    case 'plan':
      return plainText(JSON.stringify(rendered.plan, null, 2), isSecretPlan(rendered.plan));
    case 'rendering_error':
      throw new Bug('a render that succeeded has no error to look at');
  }
}

/** The text that an assertion's target names, of a render that succeeded or failed. */
export function targetText(outcome: RenderOutcome, name: string): TargetText {
  const target = parseTarget(name);
  if (target.kind === 'rendering_error') {
    if (outcome.kind === 'rendered') return none('it rendered without an error');
    return plainText(outcome.message);
  }
  if (outcome.kind === 'refused') return none(`rendering failed: ${outcome.message}`);
  return renderedText(outcome.rendered, target);
}

/** JSON of a value that has undefined members and types of its own. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** The data that an assertion's target names: of one object itself, of several the list. */
export function targetData(outcome: RenderOutcome, name: string): TargetData {
  if (outcome.kind === 'refused') return none(`rendering failed: ${outcome.message}`);
  const { rendered } = outcome;
  const target = parseTarget(name);
  switch (target.kind) {
    case 'plan':
      return { kind: 'data', data: plain(rendered.plan), secret: isSecretPlan(rendered.plan) };
    case 'events':
      return { kind: 'data', data: plain(rendered.plan.events), secret: false };
    case 'k8s':
    case 'status': {
      const objects = objectsOf(rendered, target);
      if (isNothing(objects)) return objects;
      const [first, ...more] = objects;
      const data = first !== undefined && more.length === 0 ? first : objects;
      return { kind: 'data', data, secret: objects.some(isSecretObject) };
    }
    default:
      throw new Bug(`the target ${name} has no data`);
  }
}
