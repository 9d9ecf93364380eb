import { Command, Option } from 'commander';
import { createLogger, stopSignal, type LogLevel } from '@haptic/core/host';
import { compose } from '../compose.ts';
import { Negative } from '../exit.ts';
import { examples, mandatory, shared } from '../flags.ts';
import { describeVerdict } from '../describe-verdict.ts';
import { onceOnlyPreset } from '../presets.ts';
import type { Terminal } from '../terminal.ts';
import { writeTree } from '../write-tree.ts';

interface RenderFlags {
  readonly resources: readonly string[];
  readonly out: string;
  readonly config?: string;
  readonly hostConfig?: string;
  readonly haproxy?: string;
  readonly output: 'text' | 'json';
  readonly logLevel: LogLevel;
}

export function renderCommand(terminal: Terminal): Command {
  return new Command('render')
    .description(
      'Write the files that HAProxy would get. They are judged first, as for a pod: what is refused is not written (exit code 1).',
    )
    .addOption(mandatory(shared.resources()))
    .addOption(
      mandatory(new Option('--out <dir>', 'where the files go; replaced if an earlier render wrote it')),
    )
    .addOption(shared.config())
    .addOption(shared.haproxy())
    .addOption(shared.hostConfig())
    .addOption(shared.output())
    .addOption(shared.logLevel('warn'))
    .addHelpText('after', examples(['haptic render --resources ./kubernetes --out ./rendered']))
    .action((flags: RenderFlags) => render(flags, terminal));
}

async function render(flags: RenderFlags, terminal: Terminal): Promise<void> {
  using stop = stopSignal();
  const log = createLogger({ level: flags.logLevel, destination: process.stderr });
  await using controller = await compose({
    preset: onceOnlyPreset(flags, flags),
    hostConfig: flags.hostConfig,
    log,
  });
  const { rendered, verdict } = await controller.renderOnce(stop.signal);
  if (verdict?.kind !== 'passed') {
    for (const line of describeVerdict(verdict, terminal.style)) terminal.err(line);
    throw new Negative();
  }
  await writeTree(flags.out, rendered);
  const { entries } = rendered.files;
  if (flags.output === 'json') {
    terminal.out(
      JSON.stringify({
        out: flags.out,
        planId: rendered.plan.id,
        files: entries,
        findings: verdict.findings,
      }),
    );
    return;
  }
  for (const line of describeVerdict(verdict, terminal.style)) terminal.err(line);
  terminal.out(`wrote ${entries.length} files to ${flags.out} (plan ${rendered.plan.id.slice(0, 12)})`);
}
