import { Command } from 'commander';
import { checkMandatory, checkNestedCommand, examples } from './flags.ts';
import type { Terminal } from './terminal.ts';
import { packageVersion } from './version.ts';

/** Loaded when they are wanted: an agent beside each HAProxy shall not carry what a controller needs. */
const commands: Readonly<Record<string, (terminal: Terminal) => Promise<Command>>> = {
  up: async (terminal) => (await import('./commands/up.ts')).upCommand(terminal),
  run: async () => (await import('./commands/run.ts')).runCommand(),
  render: async (terminal) => (await import('./commands/render.ts')).renderCommand(terminal),
  validate: async (terminal) => (await import('./commands/validate.ts')).validateCommand(terminal),
  plugins: async (terminal) => (await import('./commands/plugins.ts')).pluginsCommand(terminal),
  agent: async (terminal) => (await import('./commands/agent.ts')).agentCommand(terminal),
  haproxy: async () => (await import('./commands/haproxy.ts')).haproxyCommand(),
  version: async (terminal) => (await import('./commands/version.ts')).versionCommand(terminal),
};

/** Those that help and suggestions speak of, or the one that is called. */
function wanted([name = '']: readonly string[]): readonly string[] {
  return Object.hasOwn(commands, name) ? [name] : Object.keys(commands);
}

/**
 * The command line, as far as these arguments need it. Parsing throws instead of exiting; `main` turns what is thrown into an exit
 * code.
 */
export async function createProgram(terminal: Terminal, args: readonly string[]): Promise<Command> {
  const program = new Command('haptic')
    .description('A template-driven HAProxy ingress controller.')
    .version(packageVersion, '--version', 'print the version')
    .helpCommand('help [command]', 'show help for a command')
    .showSuggestionAfterError()
    // What stands behind a command's name is its own, also where the command around it has an option of that name.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      examples(['haptic up --resources ./kubernetes', 'haptic validate', 'haptic help up']),
    );
  for (const name of wanted(args)) program.addCommand(await commands[name]!(terminal));
  settle(program, terminal);
  return program.hook('preAction', (_program, command) => {
    checkNestedCommand(command);
    checkMandatory(command);
  });
}

/** The same manners for every command, also nested ones: throw, speak through the terminal, name the exit codes. */
function settle(command: Command, terminal: Terminal): void {
  command
    .exitOverride()
    .helpOption('-h, --help', 'show help')
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: (text, write) =>
        write(`${terminal.style('bad', 'error:')} ${text.replace(/^error: /, '')}`),
    });
  for (const child of command.commands) settle(child, terminal);
}
