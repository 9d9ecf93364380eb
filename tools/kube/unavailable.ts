import type { Tool } from './programs.ts';

/** A program of the tests could not be had; says what was tried and how to mend it. */
export class ToolUnavailable extends Error {
  override readonly name = 'ToolUnavailable';

  constructor(tool: Tool, version: string, attempts: readonly string[]) {
    super(
      [
        `no ${tool} ${version} on this machine. Tried:`,
        ...attempts.map((attempt) => `  - ${attempt}`),
        `To mend it: put ${tool} into PATH or into the folder that KUBEBUILDER_ASSETS names, or install Go 1.21 or newer ` +
          '(it is then built from Go modules).',
      ].join('\n'),
    );
  }
}
