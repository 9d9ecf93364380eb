/** One message of HAProxy's log: `[ALERT]    (123) : config : words`, with the lines that belong to it. */
export interface Message {
  readonly level: 'alert' | 'warning' | 'notice';
  /** Without the log's own prefix; several lines as HAProxy wrote them. */
  readonly text: string;
}

const HEAD = /^\[(?<level>[A-Z]+)\s*\]\s*\(\d+\) : (?:config : )?(?<text>.*)$/;

/** Repeats in general what other messages say in particular. */
const SUMMARY = /^(?:Error\(s\) found in configuration file|Fatal errors found in configuration)/;

/** What stands before the messages of several arguments, each with its place on a line of its own. */
const ARGUMENTS = /^multiple argument resolution errors:\n/;

/** Cuts what `haproxy -c` printed into messages. Text before the first one is a message of its own: nothing is lost. */
export function parseMessages(output: string): readonly Message[] {
  const blocks: { level: Message['level']; lines: string[] }[] = [];
  for (const line of output.split('\n')) {
    const head = HEAD.exec(line)?.groups;
    if (head !== undefined) blocks.push({ level: levelOf(head['level'] ?? ''), lines: [head['text'] ?? ''] });
    else if (blocks.length > 0) blocks.at(-1)?.lines.push(line);
    else if (line.trim() !== '') blocks.push({ level: 'notice', lines: [line] });
  }
  const messages = blocks.map(({ level, lines }) => ({ level, text: lines.join('\n').trim() }));
  return withoutSummaries(messages.flatMap(splitArguments).filter(({ text }) => text !== ''));
}

function levelOf(word: string): Message['level'] {
  switch (word) {
    case 'EMERG':
    case 'ALERT':
    case 'CRIT':
    case 'ERR':
      return 'alert';
    case 'WARNING':
      return 'warning';
    default:
      return 'notice';
  }
}

function splitArguments(message: Message): readonly Message[] {
  if (!ARGUMENTS.test(message.text)) return [message];
  const lines = message.text.replace(ARGUMENTS, '').split('\n');
  return lines.map((line) => ({ level: message.level, text: line.trim() }));
}

function withoutSummaries(messages: readonly Message[]): readonly Message[] {
  const particular = messages.filter(({ text }) => !SUMMARY.test(text));
  return particular.some(({ level }) => level === 'alert') ? particular : messages;
}
