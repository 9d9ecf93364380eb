import { z } from 'zod';

/** What a header's value must not have: it would end the line. */
const headerText = z.string().regex(/^[^\r\n\0]*$/, 'a header is one line');
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'expected the name of a header');

const request = z.strictObject({
  host: headerText.exactOptional(),
  path: z.string().regex(/^(?:\/[\x21-\x7e]*|\*)$/, 'expected a path that begins with "/", as it is sent'),
  method: z
    .string()
    .regex(/^[A-Za-z]+$/, 'expected a method such as GET')
    .default('GET'),
  headers: z.record(headerName, z.union([headerText, z.array(headerText).min(1)])).default({}),
  tls: z
    .union([
      z.literal(true),
      z.strictObject({
        sni: z
          .string()
          .regex(/^[\w.-]+$/, 'expected a host name')
          .refine((name) => !/^[\d.]+$/.test(name), 'an address is no server name')
          .exactOptional(),
      }),
    ])
    .exactOptional(),
  bind: z.string().min(1).exactOptional(),
});

const expectation = z
  .strictObject({
    backend: z.string().min(1).exactOptional(),
    redirect: z.string().min(1).exactOptional(),
    status: z.int().min(100).max(599).exactOptional(),
  })
  .refine((expect) => Object.keys(expect).length > 0, 'expected a backend, a redirect or a status');

/** A claim about the answer of a HAProxy. */
export const routes = z.strictObject({
  type: z.literal('routes'),
  description: z.string().exactOptional(),
  request,
  expect: expectation,
});
