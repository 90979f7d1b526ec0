import type { ReactNode } from 'react';
import classes from './FieldList.module.css';

interface FieldListProps {
  /** Label and value, in reading order. */
  readonly fields: readonly (readonly [label: string, value: ReactNode])[];
}

/** What is known of something, line by line; labels stand above their values where it is narrow. */
export function FieldList({ fields }: FieldListProps) {
  return (
    <dl className={classes.list}>
      {fields.map(([label, value]) => (
        <div key={label} className={classes.field}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
