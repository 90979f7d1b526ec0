import { may, type User } from '@lamina/contract';
import { useMutation } from '@tanstack/react-query';
import { revokeShareLink, useShareLinks } from '../../api/share-links.ts';
import { Panel } from '../../components/Panel.tsx';
import { ShareLinkList } from '../../components/ShareLinkList.tsx';
import { announce } from '../../notifications/notify.ts';
import { texts } from './texts.ts';

/**
 * Card of the profile with the share links of the account (URLs that show slides to people without an account). It is hidden when the
 * account may not create share links.
 */
export function ShareLinksCard({ user }: { readonly user: User }) {
  return may(user, 'sharing.own') ? <OwnLinks uid={user.uid} /> : null;
}

function OwnLinks({ uid }: { readonly uid: string }) {
  const links = useShareLinks();
  const endLink = useMutation({ mutationFn: async (id: string) => announce(await revokeShareLink(id)) });
  return (
    <Panel title={texts.shareLinks}>
      <ShareLinkList
        query={links}
        ownerUid={uid} // for administrators, `links` contains the links of all accounts
        endingId={endLink.isPending ? endLink.variables : null}
        onEnd={({ id }) => endLink.mutate(id)}
      />
    </Panel>
  );
}
