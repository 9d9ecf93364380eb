import { Command } from 'commander';
import { agentCommand } from './commands/agent.ts';
import { haproxyCommand } from './commands/haproxy.ts';
import { pluginsCommand } from './commands/plugins.ts';
import { renderCommand } from './commands/render.ts';
import { runCommand } from './commands/run.ts';
import { upCommand } from './commands/up.ts';
import { validateCommand } from './commands/validate.ts';
import { versionCommand } from './commands/version.ts';
import { checkMandatory, checkNestedCommand, examples } from './flags.ts';
import type { Terminal } from './terminal.ts';
import { packageVersion } from './version.ts';

/** The whole command line. Parsing throws instead of exiting; `main` turns what is thrown into an exit code. */
export function createProgram(terminal: Terminal): Command {
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
  const commands = [
    upCommand(terminal),
    runCommand(),
    renderCommand(terminal),
    validateCommand(terminal),
    pluginsCommand(terminal),
    agentCommand(terminal),
    haproxyCommand(),
    versionCommand(terminal),
  ];
  for (const command of commands) program.addCommand(command);
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
