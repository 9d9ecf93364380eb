const characters = '\\ "\'#$%{}[](),;&|<>!*?~^@:=+-./`axn0';

/** Pieces of texts that try to be more than one word of HAProxy's configuration. None of them is refused there. */
export const hostilePieces: readonly string[] = [
  '41',
  '$HOME',
  '${HOME[*]}',
  '%[env(HOME)]',
  '-f',
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
].concat(characters.split(''));
