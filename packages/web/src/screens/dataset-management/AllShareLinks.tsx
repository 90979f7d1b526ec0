import { Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { revokeShareLink, useShareLinks } from '../../api/share-links.ts';
import { ShareLinkList } from '../../components/ShareLinkList.tsx';
import { announce } from '../../notifications/notify.ts';
import classes from './DatasetManagement.module.css';
import { texts } from './texts.ts';

/** The share links (URLs that show slides to visitors without an account) of all accounts, each with a button that ends the link. */
export function AllShareLinks() {
  const links = useShareLinks();
  const endLink = useMutation({ mutationFn: async (id: string) => announce(await revokeShareLink(id)) });
  return (
    <section className={classes.shareLinks} aria-label={texts.shareLinks}>
      <Title order={2} size="h4">
        {texts.shareLinks}
      </Title>
      <ShareLinkList
        query={links}
        areOwnersShown
        endingId={endLink.isPending ? endLink.variables : null}
        onEnd={({ id }) => endLink.mutate(id)}
      />
    </section>
  );
}
