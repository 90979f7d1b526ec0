import type { AuditEntry } from '@lamina/contract';
import { Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { formatDate, formatTime } from '../../formatting/dates.ts';
import { nameOf } from '../../formatting/person.ts';
import classes from './AuditTable.module.css';
import { detailOf } from './detail-of.ts';
import { auditLogPath } from './filter.ts';
import { summaryOf, texts } from './texts.ts';

const columns = ['time', 'action', 'person', 'target', 'detail', 'address'] as const; // keys of `texts`

/** Table of audit entries, grouped by day. In a narrow window, the style sheet turns each row into a card. */
export function AuditTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  const days = Map.groupBy(entries, ({ at }) => formatDate(at));
  return (
    <table aria-label={texts.entries} className={classes.table}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {texts[column]}
            </th>
          ))}
        </tr>
      </thead>
      {[...days].map(([day, entriesOfDay]) => (
        <tbody key={day}>
          <tr className={classes.day}>
            <th scope="rowgroup" colSpan={columns.length}>
              {day}
            </th>
          </tr>
          {entriesOfDay.map((entry) => (
            <Row key={entry.seq} entry={entry} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

function Row({ entry }: { readonly entry: AuditEntry }) {
  const { at, result, actor, address } = entry; // `address`: IP address of the client
  const details = detailOf(entry);
  // When an account acts on itself, the target column would repeat the actor.
  const target = entry.target?.kind === 'account' && entry.target.uid === actor?.uid ? null : entry.target;
  return (
    <tr className={classes.entry} data-result={result}>
      <td className={classes.time}>
        <time dateTime={at}>{formatTime(at)}</time>
      </td>
      <td className={classes.action}>{summaryOf(entry)}</td>
      <Cell label={texts.person} className={classes.person}>
        <Actor entry={entry} />
      </Cell>
      <Cell label={texts.target} isEmpty={target === null}>
        <Target target={target} />
      </Cell>
      <Cell label={texts.detail} isEmpty={details.length === 0}>
        {details.map((sentence) => (
          <div key={sentence}>{sentence}</div>
        ))}
      </Cell>
      <Cell label={texts.address} className={classes.address} isEmpty={address === null}>
        {address}
      </Cell>
    </tr>
  );
}

interface CellProps {
  /** Label beside the value on a card, which has no column headings. */
  readonly label: string;
  /** Whether the style sheet hides the cell on a card. */
  readonly isEmpty?: boolean;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

function Cell({ label, isEmpty = false, className, children }: CellProps) {
  return (
    <td className={className} data-label={label} data-empty={isEmpty || undefined}>
      <div>{children}</div>
    </td>
  );
}

type AuditPerson = NonNullable<AuditEntry['actor']>;

/**
 * Shows who caused an entry. An entry without an actor has two possible causes: the server itself when the entry has no IP address, and
 * otherwise a client that was not signed in.
 */
function Actor({ entry: { actor, address } }: { readonly entry: AuditEntry }) {
  if (actor !== null) return <PersonLink person={actor} />;
  return (
    <Text inherit c="dimmed">
      {address === null ? texts.server : texts.notSignedIn}
    </Text>
  );
}

/** A user's name, linked to the entries of the user, above the e-mail address; for a deleted account, above the uid. */
function PersonLink({ person }: { readonly person: AuditPerson }) {
  const { uid, email } = person;
  const name = email === null ? texts.deletedAccount : nameOf({ ...person, email });
  return (
    <>
      <Anchor inherit component={Link} to={auditLogPath({ who: uid })} title={texts.recordsOf(name)}>
        {name}
      </Anchor>
      {email !== name && <span className={classes.secondLine}>{email ?? uid}</span>}
    </>
  );
}

function Target({ target }: Pick<AuditEntry, 'target'>) {
  if (target === null) return null;
  if (target.kind === 'other') return target.id;
  if (target.kind === 'account') return <PersonLink person={target} />;
  const name = target.fileName ?? texts.unnamedSlide;
  return (
    <Anchor
      inherit
      component={Link}
      to={auditLogPath({ target: target.id })}
      title={texts.recordsOfSlide(name)}
    >
      {name}
    </Anchor>
  );
}
