import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './EmptyState.module.css';

interface EmptyStateProps {
  /** States which entries are missing, such as 'No slides found'. */
  readonly title: string;
  /** A sentence that tells the user how to get entries. */
  readonly hint?: string;
  /** A button or a link to the next step. */
  readonly action?: ReactNode;
}

/** Replaces an empty list: states that there are no entries, and offers the next step. */
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
