import type { ReactNode } from 'react';
import classes from './FieldList.module.css';

interface FieldListProps {
  /** Label and value, in reading order. */
  readonly fields: readonly (readonly [label: string, value: ReactNode])[];
}

/** A list of labels and values. On narrow screens, each label is above its value. */
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
