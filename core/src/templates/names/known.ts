import type {
  GlobalInput,
  MemberDoc,
  MergedConfig,
  RenderPlan,
  TemplateHelper,
} from '../../contract/index.ts';
import type { EffectHelper } from './effects.ts';

/** A global as the compiler sees it: what it holds may depend on the configuration. */
export interface KnownGlobal {
  readonly name: string;
  readonly doc: string;
  /** `a` or `a.b`: where a name has members below it, they are complete as well. */
  members(config: MergedConfig): readonly MemberDoc[];
  build(input: GlobalInput, current: RenderPlan | undefined): unknown;
}

export type KnownHelper = TemplateHelper | EffectHelper;

/** What a global's path may go on with; undefined: anything. */
export function membersBelow(
  members: readonly MemberDoc[],
  path: readonly string[],
): readonly string[] | undefined {
  const prefix = path.map((part) => `${part}.`).join('');
  const below = members
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name }) => name.slice(prefix.length));
  if (below.length === 0) return path.length === 0 ? [] : undefined;
  return [...new Set(below.map((name) => name.split('.')[0]!))];
}
