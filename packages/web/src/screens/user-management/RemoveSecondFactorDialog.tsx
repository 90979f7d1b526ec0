import type { UserDetails } from '@lamina/contract';
import { Text } from '@mantine/core';
import { removeSecondFactor } from '../../api/users.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { nameOf } from '../../formatting/person.ts';
import { texts } from './texts.ts';

interface RemoveSecondFactorDialogProps {
  readonly user: UserDetails;
  readonly onClose: () => void;
}

/** Dialog that removes the two-step verification of an account, for example when its owner has lost the phone. */
export function RemoveSecondFactorDialog({ user, onClose }: RemoveSecondFactorDialogProps) {
  const name = nameOf(user);
  return (
    <ConfirmDialog
      title={texts.removeSecondFactor}
      confirmLabel={texts.removeSecondFactorSubmit}
      isDestructive
      onClose={onClose}
      onConfirm={async () => {
        announceAction(await removeSecondFactor(user.uid), { about: name });
        onClose();
      }}
    >
      <Text>{texts.removeSecondFactorHint(name)}</Text>
    </ConfirmDialog>
  );
}
