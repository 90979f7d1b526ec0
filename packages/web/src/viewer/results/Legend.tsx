/** A part of the panel of result layers (objects and masks that a program computed): the colours of their classes. */
import { Checkbox, Text } from '@mantine/core';
import { formatMeasuredValue } from '../../formatting/numbers.ts';
import classes from './Results.module.css';
import { texts } from './texts.ts';

interface LegendEntry {
  /** Index of the class, or value of the category. */
  readonly key: number;
  readonly label: string;
  /** Red, green and blue from 0 to 255. */
  readonly color: readonly [number, number, number];
  /** Number of objects; null: no count is shown. */
  readonly count: number | null;
}

interface LegendProps {
  readonly entries: readonly LegendEntry[];
  /** Keys of the hidden entries. */
  readonly hidden: ReadonlySet<number>;
  /** Called when the user shows or hides an entry, with the keys of all entries that are hidden after that. */
  readonly onHide: (hidden: ReadonlySet<number>) => void;
  /** Text above the list that explains the counts; null if there are no counts. */
  readonly note: string | null;
}

/** Lists the classes or categories of a result layer with colour and count, each with a checkbox that shows or hides it. */
export function Legend({ entries, hidden, onHide, note }: LegendProps) {
  return (
    <>
      {note !== null && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
      <ul className={classes.legend} aria-label={texts.legend}>
        {entries.map(({ key, label, color, count }) => (
          <li key={key} className={classes.entry}>
            <Checkbox
              size="xs"
              aria-label={texts.show(label)}
              checked={!hidden.has(key)}
              onChange={({ currentTarget }) => {
                const next = new Set(hidden);
                if (currentTarget.checked) next.delete(key);
                else next.add(key);
                onHide(next);
              }}
            />
            <span className={classes.swatch} style={{ background: `rgb(${color.join(' ')})` }} />
            <span className={classes.entryName}>{label}</span>
            {count !== null && <span className={classes.count}>{formatMeasuredValue(count)}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
