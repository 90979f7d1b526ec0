/** The filter of the audit log: conversion from and to the URL, so that a link can contain the filter, and to API parameters. */
import { type AuditFilter, AuditResult, auditActions } from '@lamina/contract';

/** The values of the filter form. An empty value does not filter. */
export interface AuditLogFilter {
  /** Uid or e-mail address of the actor. */
  readonly who: string;
  readonly action: string;
  readonly result: string;
  /** Id of a slide or another target. */
  readonly target: string;
  /** First day, 'YYYY-MM-DD' in the time zone of the browser. */
  readonly from: string;
  /** Last day, inclusive; same format as `from`. */
  readonly to: string;
  /** '1' to show the entries about image sessions, too; otherwise empty. */
  readonly sessions: string;
}

const parameterNames = ['who', 'action', 'result', 'target', 'from', 'to', 'sessions'] as const;

/** Returns the filter of the URL. Invalid values become empty. */
export function readFilter(query: URLSearchParams): AuditLogFilter {
  const parameter = (name: keyof AuditLogFilter) => query.get(name)?.trim() ?? '';
  const validDayOf = (name: 'from' | 'to') =>
    startOfDay(parameter(name)) === undefined ? '' : parameter(name);
  return {
    who: parameter('who'),
    action: Object.hasOwn(auditActions, parameter('action')) ? parameter('action') : '',
    result: AuditResult.safeParse(parameter('result')).data ?? '',
    target: parameter('target'),
    from: validDayOf('from'),
    to: validDayOf('to'),
    sessions: parameter('sessions') === '1' ? '1' : '',
  };
}

/** Returns the path and query of the audit log with this filter. */
export function auditLogPath(filter: Partial<AuditLogFilter>): string {
  const query = new URLSearchParams();
  for (const name of parameterNames) {
    const value = filter[name]?.trim();
    if (value) query.set(name, value);
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return `/admin/audit${search}`;
}

/**
 * Returns the filter for the API. It hides the entries about image sessions (the credentials with which browsers load tiles), because these
 * entries outnumber all others, unless the user has chosen to show these entries or filters by an action.
 */
export function toApiFilter(filter: AuditLogFilter): AuditFilter {
  const { who, action, target, sessions } = filter;
  const start = startOfDay(filter.from);
  const end = startOfDay(filter.to, { daysLater: 1 }); // the API excludes this time, so the filter includes the whole last day
  const result = AuditResult.safeParse(filter.result).data;
  return {
    ...(who !== '' && { who }),
    ...(action !== '' && { action }),
    ...(result !== undefined && { result }),
    ...(target !== '' && { target }),
    ...(start !== undefined && { from: start }),
    ...(end !== undefined && { to: end }),
    ...(sessions === '' && action === '' && { hide: 'sessions' as const }),
  };
}

/**
 * Returns when a day begins in the time zone of the browser, as an ISO timestamp; undefined when `day` is not of the form 'YYYY-MM-DD' or
 * not in the calendar ('2026-02-31').
 *
 * @param options `daysLater: 1` returns the beginning of the day after `day`
 */
function startOfDay(day: string, { daysLater = 0 } = {}): string | undefined {
  const [, year, month, date] = /^([1-9]\d{3})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const monthIndex = Number(month) - 1;
  // `Date` converts a date that does not exist to one in another month, and a year before 100 to one after 1900.
  if (new Date(Number(year), monthIndex, Number(date)).getMonth() !== monthIndex) return undefined;
  return new Date(Number(year), monthIndex, Number(date) + daysLater).toISOString();
}
