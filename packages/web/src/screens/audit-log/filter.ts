/** The filter of the audit log as it stands in the address, for links and for the back button. */
import { type AuditFilter, AuditResult, auditActions } from '@lamina/contract';

/** As typed and chosen: empty for what does not matter. Days are local, 'YYYY-MM-DD', both in. */
export interface ShownFilter {
  readonly who: string;
  readonly action: string;
  readonly result: string;
  readonly target: string;
  readonly from: string;
  readonly to: string;
  /** '1': entries of image sessions are shown too. */
  readonly sessions: string;
}

const names = ['who', 'action', 'result', 'target', 'from', 'to', 'sessions'] as const;

export function filterOfAddress(search: URLSearchParams): ShownFilter {
  const [who, action, result, target, from, to, sessions] = names.map(
    (name) => search.get(name)?.trim() ?? '',
  );
  return {
    who: who ?? '',
    action: Object.hasOwn(auditActions, action ?? '') ? (action ?? '') : '',
    result: AuditResult.safeParse(result).data ?? '',
    target: target ?? '',
    from: startOfDay(from ?? '', 0) === undefined ? '' : (from ?? ''),
    to: startOfDay(to ?? '', 0) === undefined ? '' : (to ?? ''),
    sessions: sessions === '1' ? '1' : '',
  };
}

export function addressOfFilter(filter: Partial<ShownFilter>): string {
  const search = new URLSearchParams();
  for (const name of names) {
    const value = filter[name]?.trim();
    if (value) search.set(name, value);
  }
  const text = search.toString();
  return `/admin/audit${text ? `?${text}` : ''}`;
}

/**
 * Returns the query for the API. Entries of image sessions outnumber all others and are left out, unless the person asks for
 * them or for one action.
 */
export function askedBy({ who, action, result, target, from, to, sessions }: ShownFilter): AuditFilter {
  const start = startOfDay(from, 0);
  const end = startOfDay(to, 1);
  const known = AuditResult.safeParse(result).data;
  return {
    ...(who !== '' && { who }),
    ...(action !== '' && { action }),
    ...(known !== undefined && { result: known }),
    ...(target !== '' && { target }),
    ...(start !== undefined && { from: start }),
    ...(end !== undefined && { to: end }),
    ...(sessions === '' && action === '' && { hide: 'sessions' as const }),
  };
}

/** When the day, or one so many days later, begins in the browser's time zone; undefined for what is no day. */
function startOfDay(day: string, later: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const start = new Date(Number(year), Number(month) - 1, Number(date) + later);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}
