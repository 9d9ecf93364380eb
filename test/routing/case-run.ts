import { caseTable, requestBytes, type Case } from './case-table.ts';
import { haproxyName } from './rules.ts';
import { outcomeOf, type Site } from './site.ts';

const portKeyOf = { ingress: 'i80', gateway: 'g80' } as const;

/** Two rows of the table say another order than their place; the wanted values follow the place. */
export const caseRules = caseTable.rules.map((rule, order) => ({ ...rule, order }));

/** A line for each case that is answered otherwise than wanted. */
export async function caseDifferences(site: Site, table: readonly Case[]): Promise<readonly string[]> {
  const differences: string[] = [];
  for (const [index, one] of table.entries()) {
    const outcome = outcomeOf(await site.send(portKeyOf[one.listener], requestBytes(one)));
    const accepted = [one.want, ...(one.accept ?? [])].map((wanted) => {
      return typeof wanted === 'number' ? String(wanted) : haproxyName(wanted);
    });
    if (accepted.includes(outcome)) continue;
    const asked = `${one.method} ${one.host ?? ''}${one.path}`;
    differences.push(`#${index} ${one.area} ${asked}: ${outcome}, wanted ${accepted.join(' or ')}`);
  }
  return differences;
}
