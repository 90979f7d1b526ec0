import { Text } from '@mantine/core';
import type { Icon } from '@tabler/icons-react';
import { Link } from 'react-router';
import classes from './QuickLink.module.css';

interface QuickLinkProps {
  readonly to: string;
  readonly label: string;
  /** Language of the label; omitted when it is the language of the page. */
  readonly labelLanguage?: string;
  readonly hint: string;
  readonly icon: Icon;
}

/** Link to a screen, with an icon and a hint about what the screen is for. */
export function QuickLink({ to, label, labelLanguage, hint, icon: LinkIcon }: QuickLinkProps) {
  return (
    <Link to={to} className={classes.link}>
      <span className={classes.icon}>
        <LinkIcon size={24} aria-hidden />
      </span>
      <span>
        <Text component="span" display="block" fw={600} lang={labelLanguage}>
          {label}
        </Text>
        <Text component="span" display="block" size="sm" c="dimmed">
          {hint}
        </Text>
      </span>
    </Link>
  );
}
