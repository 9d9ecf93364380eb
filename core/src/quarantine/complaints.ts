import {
  isSecretPlace,
  placedLine,
  type Finding,
  type ObjectRef,
  type Refused,
  type Rendered,
  type StoreView,
  type Verdict,
} from '../contract/index.ts';

/** Something that was refused, by whom, and the view that it was rendered from. */
export type Failure = { readonly view: StoreView } & (
  | {
      readonly kind: 'verdict';
      readonly verdict: Extract<Verdict, { readonly kind: 'refused' }>;
      readonly rendered: Rendered;
    }
  | { readonly kind: 'render'; readonly error: Refused }
  /** A pod's own HAProxy did not load it. */
  | { readonly kind: 'pod'; readonly message: string; readonly rendered: Rendered }
);

/** One thing that somebody said is wrong. */
export interface Complaint {
  readonly message: string;
  /** None where nothing is known of whose it is. */
  readonly objects: readonly ObjectRef[];
  /** The line of a template that failed, as far as it is known: two equal ones failed in the same way. */
  readonly line?: string;
}

/** The place of an expression; others name the tag that declared something for all objects. */
const EXACT = /^[^\s:]+:\d+:\d+(?: \(|$)/;

export function complaintsOf(failure: Failure): readonly Complaint[] {
  switch (failure.kind) {
    case 'verdict': {
      const errors = failure.verdict.findings.filter(({ severity }) => severity === 'error');
      return errors.map((finding) => complaintOf(finding, failure.rendered));
    }
    case 'render':
      return failure.error.problems.map(({ where, message, objects = [] }) => ({
        message,
        objects,
        ...(where !== '' && { line: EXACT.test(where) ? where : `${where} ${message}` }),
      }));
    case 'pod':
      return podComplaints(failure.message, failure.rendered);
  }
}

const SECRET_REASON = 'a secret part of the configuration that is made of it is refused';

function complaintOf(
  {
    message,
    provenance,
    objects,
    path,
    line: at,
  }: Pick<Finding, 'message' | 'provenance' | 'objects' | 'path' | 'line'>,
  rendered: Rendered,
): Complaint {
  if (provenance === undefined) return { message, objects: objects ?? [] };
  const { source, snippet, line } = provenance;
  const isSecret = path !== undefined && isSecretPlace(rendered, path, at);
  return {
    // What is said of an object is published.
    message: isSecret ? SECRET_REASON : message,
    objects: objects ?? provenance.objects,
    // Words about secret parts are all the same, so they do not tell whether two failed in the same way.
    line: `${source} ${snippet}:${line} ${isSecret ? `${path}:${at}` : message}`,
  };
}

function podComplaints(message: string, rendered: Rendered): readonly Complaint[] {
  const placed = message.split('\n').flatMap((line) => {
    const at = placedLine(line);
    const provenance = at && rendered.locate(at.path, at.line);
    if (at === undefined || provenance === undefined) return [];
    return [complaintOf({ message: at.text, provenance, path: at.path, line: at.line }, rendered)];
  });
  return placed.length > 0 ? placed : [{ message, objects: [] }];
}
