import type {
  Finding,
  ObjectRef,
  Provenance,
  Refused,
  Rendered,
  StoreView,
  Verdict,
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

function complaintOf(
  { message, provenance, objects }: Pick<Finding, 'message' | 'provenance' | 'objects'>,
  rendered: Rendered,
): Complaint {
  if (provenance === undefined) return { message, objects: objects ?? [] };
  const { source, snippet, line } = provenance;
  return {
    message: isSecret(provenance, rendered) ? SECRET_REASON : message,
    objects: objects ?? provenance.objects,
    line: `${source} ${snippet}:${line} ${message}`,
  };
}

const SECRET_REASON = 'a secret part of the configuration that is made of it is refused';

/** A judge quotes words of the line that it refuses, and what is said of an object is published. */
function isSecret({ snippet, line }: Provenance, { plan }: Rendered): boolean {
  return plan.sections.some(
    ({ secret, provenance }) => secret === true && provenance.snippet === snippet && provenance.line === line,
  );
}

/**
 * Where HAProxy says that it stopped reading. Values of tenants may stand further on in its messages, so a place counts at the very
 * beginning only.
 */
const PLACE =
  /^(?:\[ALERT\]\s+\(\d+\)\s*:\s*)?(?:config\s*:\s*)?(?:[Pp]arsing )?\[(?<path>[^\]\n]+):(?<line>[1-9]\d{0,8})\]\s*:\s*(?<text>.*)$/;

function podComplaints(message: string, rendered: Rendered): readonly Complaint[] {
  const placed = message.split('\n').flatMap((line) => {
    const { path, line: number, text = line } = PLACE.exec(line.trim())?.groups ?? {};
    const provenance = path === undefined ? undefined : rendered.locate(path, Number(number));
    return provenance === undefined ? [] : [complaintOf({ message: text, provenance }, rendered)];
  });
  return placed.length > 0 ? placed : [{ message, objects: [] }];
}
