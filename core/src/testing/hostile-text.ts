import * as fc from 'fast-check';

const pieces = [
  ...[
    '\\',
    ' ',
    '"',
    "'",
    '#',
    '$',
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    '%',
    ',',
    ';',
    '&',
    '|',
    '<',
    '>',
    '!',
    '*',
    '?',
    '~',
  ],
  ...[
    '^',
    '@',
    ':',
    '=',
    '+',
    '-',
    '.',
    '/',
    '`',
    'a',
    'x',
    'n',
    '0',
    '41',
    '$HOME',
    '${HOME[*]}',
    '%[env(HOME)]',
    '-f',
  ],
  ...[
    '--',
    '\\x41',
    "'\\''",
    ' #',
    ' if ',
    ' } ',
    '\u00a0',
    '\u0085',
    '\u2028',
    '漢字',
    '😀',
    '%%',
    '%ci',
    '\\n',
    '\\t',
  ],
];

/** Texts that try to be more than one word; without what no line can hold. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'grapheme-ascii', maxLength: 3 })), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''))
  // eslint-disable-next-line no-control-regex
  .map((text) => text.replaceAll(/[\0-\x1f\x7f]/g, '').toWellFormed());
