import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseMessages } from './messages.ts';

test('lines without a head belong to the message before', () => {
  const output = `[NOTICE]   (1) : haproxy version is 3.4.7-1
[WARNING]  (1) : missing timeouts for frontend 'in'.
   | While not properly invalid
[ALERT]    (1) : config : parsing [haproxy.cfg:8] : unmatched quote:
  http-request
       ^
[ALERT]    (1) : config : Fatal errors found in configuration.
`;
  expect(parseMessages(output)).toEqual([
    { level: 'notice', text: 'haproxy version is 3.4.7-1' },
    { level: 'warning', text: "missing timeouts for frontend 'in'.\n   | While not properly invalid" },
    { level: 'alert', text: 'parsing [haproxy.cfg:8] : unmatched quote:\n  http-request\n       ^' },
  ]);
});

test('a summary stays when it is all there is', () => {
  const [message] = parseMessages('[ALERT] (1) : config : Fatal errors found in configuration.\n');
  expect(message).toEqual({ level: 'alert', text: 'Fatal errors found in configuration.' });
});

test('several arguments are several messages', () => {
  const output = `[ALERT] (1) : config : multiple argument resolution errors:
        parsing [haproxy.cfg:8]: one
        parsing [haproxy.cfg:9]: two
`;
  expect(parseMessages(output)).toEqual([
    { level: 'alert', text: 'parsing [haproxy.cfg:8]: one' },
    { level: 'alert', text: 'parsing [haproxy.cfg:9]: two' },
  ]);
});

test('whatever is printed, no word of an alert is lost', () => {
  const word = fc.stringMatching(/^[a-z'[\]:() ]{0,30}[a-z]$/);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('ALERT', 'EMERG', 'CRIT'), word), { minLength: 1 }),
      (alerts) => {
        const output = alerts.map(([level, text]) => `[${level}]    (77) : config : ${text}\n`).join('');
        const texts = parseMessages(output).map(({ text }) => text);
        expect(texts).toEqual(alerts.map(([, text]) => text.trim()));
      },
    ),
  );
});
