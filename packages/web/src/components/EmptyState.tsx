import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './EmptyState.module.css';

interface EmptyStateProps {
  /** What there is none of. */
  readonly title: string;
  /** What to do about it. */
  readonly hint?: string;
  /** A button or a link to the next step. */
  readonly action?: ReactNode;
}

/** In the place of a list without entries: says so, and offers the next step. */
export function EmptyState({ title, hint, action }: EmptyStateProps) {
  return (
    <div className={classes.empty}>
      <Text fw={600}>{title}</Text>
      {hint !== undefined && (
        <Text c="dimmed" size="sm">
          {hint}
        </Text>
      )}
      {action}
    </div>
  );
}
