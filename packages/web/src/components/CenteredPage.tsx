import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { settings } from '../settings.ts';
import { texts } from '../texts.ts';
import classes from './CenteredPage.module.css';
import { LanguageChoice } from './LanguageChoice.tsx';
import { Logo } from './Logo.tsx';

const thisYear = new Date().getFullYear();

interface CenteredPageProps {
  /** Above the card, the width of the window. */
  readonly banner?: ReactNode;
  readonly children: ReactNode;
}

/** The product's name over a card, for whoever is not (yet) let in. */
export function CenteredPage({ banner, children }: CenteredPageProps) {
  return (
    <div className={classes.page}>
      {banner}
      <div className={classes.middle}>
        <header className={classes.product}>
          <Logo size={44} />
          <span>{settings.productName}</span>
        </header>
        <main className={classes.card} tabIndex={-1}>
          {children}
        </main>
      </div>
      <LanguageChoice />
      <Text component="footer" className={classes.footer} size="sm" c="dimmed">
        © {thisYear} {settings.productName}. {texts.rightsReserved}
      </Text>
    </div>
  );
}
