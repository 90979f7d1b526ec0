import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { settings } from '../browser/settings.ts';
import { texts } from '../language/texts.ts';
import classes from './CenteredPage.module.css';
import { LanguageChoice } from './LanguageChoice.tsx';
import { Logo } from './Logo.tsx';

const thisYear = new Date().getFullYear();

interface CenteredPageProps {
  /** Shown above the card, across the whole window. */
  readonly banner?: ReactNode;
  readonly children: ReactNode;
}

/** A card below the product's name, for pages without navigation, such as sign-in. */
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
