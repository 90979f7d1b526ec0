import type { ShareLink } from '@lamina/contract';
import { Button, Text } from '@mantine/core';
import { formatDateAndTime } from '../formatting/dates.ts';
import classes from './ShareLinkList.module.css';
import { shareLinkTexts as texts } from './texts.ts';

interface ShareLinkListProps {
  readonly links: readonly ShareLink[];
  /** Whether the makers of the links are named. */
  readonly isOfEverybody?: boolean;
  /** Id of the link that is being ended; null while there is none. */
  readonly endingId: string | null;
  readonly onEnd: (link: ShareLink) => void;
}

/** Share links with their openings and a button that ends each. */
export function ShareLinkList({ links, isOfEverybody = false, endingId, onEnd }: ShareLinkListProps) {
  if (links.length === 0) return <Text c="dimmed">{texts.none}</Text>;
  return (
    <ul className={classes.list}>
      {links.map((link) => (
        <li key={link.id} className={classes.link} data-ended={link.ended || undefined}>
          <div>
            <Text>{link.title}</Text>
            <Text size="sm" c="dimmed">
              {[
                ...(isOfEverybody && link.owner_name !== null ? [link.owner_name] : []),
                texts.kinds[link.target.type],
                texts.openings(link.openings, link.max_openings),
                link.ended ? texts.ended : texts.until(formatDateAndTime(link.expires_at)),
                ...(link.has_password ? [texts.withPassword] : []),
              ].join(' · ')}
            </Text>
          </div>
          {!link.ended && (
            <Button
              size="xs"
              variant="default"
              loading={endingId === link.id}
              disabled={endingId !== null}
              aria-label={texts.endOf(link.title)}
              onClick={() => onEnd(link)}
            >
              {texts.end}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
