import { expect, test } from 'vitest';
import { findMirror, libraryDependencies, parseMadison, releasesOf, suitesFor } from './debian-index.ts';
import { supportedVersions } from './versions.ts';

test('madison lists versions, with or without lines of sources', () => {
  const output = `   haproxy |   3.4.7-1 | http://deb.debian.org/debian experimental/main amd64 Packages
   haproxy |  3.2.26-1 | http://deb.debian.org/debian sid/main amd64 Packages

`;
  expect(parseMadison(output)).toEqual(['3.4.7-1', '3.2.26-1']);
  expect(parseMadison('')).toEqual([]);
});

test('the newest release of a branch comes first, by number and not by letter', () => {
  const versions = [
    '3.2.9-1',
    '3.2.26-1',
    '3.20.1-1',
    '3.2~rc1-1',
    '3.2-dev3-1',
    '3.4.7-1',
    '3.2.26-1~bpo13+1',
  ];
  expect(releasesOf('3.2', versions)[0]).toMatch(/^3\.2\.26-1/);
  expect(releasesOf('3.2', versions)).not.toContain('3.20.1-1');
  expect(releasesOf('3.2', versions)).toHaveLength(3);
  expect(releasesOf('2.8', versions)).toEqual([]);
});

test('only libraries are followed: no services, no alternatives, no versions', () => {
  const entry = `Package: haproxy
Depends: libc6 (>= 2.38), libcrypt1 (>= 1:4.1.0), libpcre2-8-0:any (>= 10.32) | libpcre3, adduser, libc-gconv-modules-extra, zlib1g (>= 1:1.1.4)
Pre-Depends: init-system-helpers (>= 1.54~), libselinux1
Recommends: librecommended
`;
  expect(libraryDependencies(entry)).toEqual(['libc6', 'libcrypt1', 'libpcre2-8-0', 'zlib1g', 'libselinux1']);
});

test("the mirror is the main archive of the machine's own release", () => {
  const targets = `https://packages.example/ nodistro main
http://deb.debian.org/debian-security bookworm-security main
http://mirror.example/debian/ bookworm contrib
http://mirror.example/debian/ bookworm main
`;
  expect(findMirror(targets, 'bookworm')).toBe('http://mirror.example/debian/');
  expect(findMirror(targets, 'trixie')).toBeUndefined();
});

test('every supported branch has a suite to look in', () => {
  for (const minor of supportedVersions) expect(suitesFor(minor).length).toBeGreaterThan(0);
});
