const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;

function groups(text: string): readonly string[] {
  return text === '' ? [] : text.split(':');
}

export function isIpv4(text: string): boolean {
  return IPV4.test(text);
}

export function isIpv6(text: string): boolean {
  const tail = /[^:]*$/.exec(text)![0];
  // A dotted tail stands for the last two groups.
  const plain = tail.includes('.') && isIpv4(tail) ? `${text.slice(0, -tail.length)}0:0` : text;
  const halves = plain.split('::');
  const all = halves.flatMap(groups);
  if (halves.length > 2 || !all.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? all.length < 8 : all.length === 8;
}

export function isIp(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

/** An address, or a network as `address/bits`. */
export function isIpOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0 || !isIp(address)) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (isIpv4(address) ? 32 : 128);
}
