import type { UserDetails } from '@lamina/contract';
import { Text } from '@mantine/core';
import { deactivate } from '../../api/users.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { nameOf } from '../../formatting/person.ts';
import { texts } from './texts.ts';

interface DeactivateDialogProps {
  readonly user: UserDetails;
  readonly onClose: () => void;
}

/**
 * Dialog that deactivates an account after a confirmation. It lists what a later reactivation does not restore: the grants (rights to
 * restricted datasets) and the administrator role.
 */
export function DeactivateDialog({ user, onClose }: DeactivateDialogProps) {
  const name = nameOf(user);
  return (
    <ConfirmDialog
      title={texts.deactivateTitle}
      confirmLabel={texts.deactivate}
      isDestructive
      onClose={onClose}
      onConfirm={async () => {
        announceAction(await deactivate(user.uid), { about: name });
        onClose();
      }}
    >
      <Text>{texts.deactivateHint(name)}</Text>
      {user.datasets.length > 0 && <Text>{texts.deactivateGrants(user.datasets.join(', '))}</Text>}
      {user.role === 'admin' && <Text>{texts.deactivateAdmin}</Text>}
    </ConfirmDialog>
  );
}
