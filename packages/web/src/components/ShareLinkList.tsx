import type { ShareLink } from '@lamina/contract';
import { Button, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { formatDateAndTime } from '../formatting/dates.ts';
import { texts as sharedTexts } from '../language/texts.ts';
import { LoadFailed } from './LoadFailed.tsx';
import { Loading } from './Loading.tsx';
import classes from './ShareLinkList.module.css';
import { shareLinkTexts as texts } from './texts.ts';

interface ShareLinkListProps {
  /** The result of `useShareLinks`: all share links that the account may see. */
  readonly query: UseQueryResult<readonly ShareLink[]>;
  /** Shows only the links of the account with this uid; by default, all links. */
  readonly ownerUid?: string;
  /** Whether the list shows the owner of each link (for administrators). */
  readonly areOwnersShown?: boolean;
  /** Id of the link that is being ended; null while no request is running. */
  readonly endingId: string | null;
  readonly onEnd: (link: ShareLink) => void;
}

/** A list of share links, each with the number of its openings and a button that ends it. */
export function ShareLinkList({
  query,
  ownerUid,
  areOwnersShown = false,
  endingId,
  onEnd,
}: ShareLinkListProps) {
  if (query.isPending) return <Loading label={sharedTexts.loading} />;
  if (query.isLoadingError)
    return <LoadFailed message={texts.listFailed} onRetry={() => void query.refetch()} />;
  const links = query.data.filter(({ owner }) => ownerUid === undefined || owner === ownerUid);
  if (links.length === 0) return <Text c="dimmed">{texts.none}</Text>;
  return (
    <ul className={classes.list}>
      {links.map((link) => (
        <li key={link.id} className={classes.link} data-ended={link.ended || undefined}>
          <div>
            <Text>{link.title}</Text>
            <Text size="sm" c="dimmed">
              {[
                ...(areOwnersShown && link.owner_name !== null ? [link.owner_name] : []),
                texts.kinds[link.target.type],
                texts.openings(link.openings, link.max_openings),
                stateTextOf(link),
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

/** Returns the state of a link: ended (by a person or because it expired), no openings left, or the time until which it can be opened. */
function stateTextOf({ ended, openings, max_openings, expires_at }: ShareLink): string {
  if (ended) return texts.ended;
  const isUsedUp = max_openings !== null && openings >= max_openings;
  return isUsedUp ? texts.usedUp : texts.until(formatDateAndTime(expires_at));
}
