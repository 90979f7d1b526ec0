import type { AuditEntry } from '@lamina/contract';
import { Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { formatDate, formatTime } from '../../formatting/dates.ts';
import { nameOf } from '../../formatting/person.ts';
import classes from './AuditTable.module.css';
import { detailOf } from './detail-of.ts';
import { addressOfFilter } from './filter.ts';
import { sentenceOf, texts } from './texts.ts';

const columns = ['time', 'action', 'person', 'target', 'detail', 'address'] as const;

/** Audit events by day: a table in a wide window, cards in a narrow one. */
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
      {[...days].map(([day, ofDay]) => (
        <tbody key={day}>
          <tr className={classes.day}>
            <th scope="rowgroup" colSpan={columns.length}>
              {day}
            </th>
          </tr>
          {ofDay.map((entry) => (
            <Row key={entry.seq} entry={entry} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

function Row({ entry }: { readonly entry: AuditEntry }) {
  const { at, result, actor, address } = entry;
  const details = detailOf(entry);
  // An action on the own account has no target beside the actor.
  const target = entry.target?.kind === 'account' && entry.target.uid === actor?.uid ? null : entry.target;
  return (
    <tr className={classes.entry} data-result={result}>
      <td className={classes.time}>
        <time dateTime={at}>{formatTime(at)}</time>
      </td>
      <td className={classes.what}>{sentenceOf(entry)}</td>
      <Cell label={texts.person}>
        <Person entry={entry} />
      </Cell>
      <Cell label={texts.target} isEmpty={target === null}>
        <Target target={target} />
      </Cell>
      <Cell label={texts.detail} isEmpty={details.length === 0}>
        {details.map((sentence) => (
          <div key={sentence}>{sentence}</div>
        ))}
      </Cell>
      <Cell label={texts.address} isEmpty={address === null}>
        {address}
      </Cell>
    </tr>
  );
}

interface CellProps {
  /** Stands beside the value on a card, which has no column headings. */
  readonly label: string;
  /** A card leaves it out. */
  readonly isEmpty?: boolean;
  readonly children: ReactNode;
}

function Cell({ label, isEmpty = false, children }: CellProps) {
  return (
    <td data-label={label} data-empty={isEmpty || undefined}>
      <div>{children}</div>
    </td>
  );
}

type Person = NonNullable<AuditEntry['actor']>;

function Person({ entry: { actor, address } }: { readonly entry: AuditEntry }) {
  if (actor !== null) return <PersonLink person={actor} />;
  return (
    <Text inherit c="dimmed">
      {address === null ? texts.server : texts.stranger}
    </Text>
  );
}

/** A name with the e-mail address below it; of a deleted account only the uid is known. */
function PersonLink({ person }: { readonly person: Person }) {
  const { uid, email } = person;
  const name = email === null ? texts.deletedAccount : nameOf({ ...person, email });
  return (
    <>
      <Anchor inherit component={Link} to={addressOfFilter({ who: uid })} title={texts.recordsOf(name)}>
        {name}
      </Anchor>
      {email !== name && <span className={classes.second}>{email ?? uid}</span>}
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
      to={addressOfFilter({ target: target.id })}
      title={texts.recordsOfSlide(name)}
    >
      {name}
    </Anchor>
  );
}
