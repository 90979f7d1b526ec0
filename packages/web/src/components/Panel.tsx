import { Group, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import classes from './Panel.module.css';

interface PanelProps {
  readonly title: string;
  /** Language of the title, if it differs from the page's. */
  readonly titleLang?: string;
  /** Shown to the right of the title, for example a button. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

/** A card with a title. */
export function Panel({ title, titleLang, action, children }: PanelProps) {
  const titleId = useId();
  return (
    <section className={classes.panel} aria-labelledby={titleId}>
      <Group justify="space-between" mb="md" gap="sm">
        <Title order={2} size="h4" id={titleId} lang={titleLang}>
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </section>
  );
}
