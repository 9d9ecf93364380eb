import { parseTarget, type Target } from '../config/target.ts';
import { Bug } from '../contract/errors.ts';
import { didYouMean } from '../contract/nearest.ts';
import { filePath, MAIN_CONFIG } from '../contract/paths.ts';
import type { PlannedEvent, Rendered } from '../contract/render-plan.ts';
import type { RenderOutcome } from './outcome.ts';

/** What an assertion looks at, or why there is nothing to look at. */
export type TargetText =
  | { readonly kind: 'text'; readonly text: string; readonly secret: boolean }
  | { readonly kind: 'none'; readonly reason: string };

function none(reason: string): TargetText {
  return { kind: 'none', reason };
}

/** One line an event: `Ingress shop/web InvalidAnnotation: …`. */
function eventLine({ object, reason, message }: PlannedEvent): string {
  const name = object.namespace === '' ? object.name : `${object.namespace}/${object.name}`;
  return `${object.kind} ${name} ${reason}: ${message}`;
}

function fileText(rendered: Rendered, path: string): TargetText {
  const entry = rendered.files.entries.find((candidate) => candidate.path === path);
  if (entry === undefined) {
    const paths = rendered.files.entries.map((candidate) => candidate.path);
    return none(`no file ${path} was rendered${didYouMean(path, paths)}`);
  }
  const text = new TextDecoder().decode(rendered.files.read(path));
  return { kind: 'text', text, secret: entry.secret === true || entry.kind === 'certificate' };
}

function renderedText(rendered: Rendered, target: Target): TargetText {
  switch (target.kind) {
    case 'main-config':
      return fileText(rendered, MAIN_CONFIG);
    case 'named-file':
      return fileText(rendered, filePath(target.file, target.name));
    case 'events':
      return { kind: 'text', text: rendered.plan.events.map(eventLine).join('\n'), secret: false };
    case 'plan':
      return { kind: 'text', text: JSON.stringify(rendered.plan, null, 2), secret: false };
    case 'rendering_error':
      throw new Bug('a render that succeeded has no error to look at');
  }
}

/** The text that an assertion's target names, of a render that succeeded or failed. */
export function targetText(outcome: RenderOutcome, name: string): TargetText {
  const target = parseTarget(name);
  if (target.kind === 'rendering_error') {
    if (outcome.kind === 'rendered') return none('it rendered without an error');
    return { kind: 'text', text: outcome.message, secret: false };
  }
  if (outcome.kind === 'refused') return none(`rendering failed: ${outcome.message}`);
  return renderedText(outcome.rendered, target);
}
