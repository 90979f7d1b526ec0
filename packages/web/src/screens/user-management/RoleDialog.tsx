import type { GrantableRole, UserDetails } from '@lamina/contract';
import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { changeRole } from '../../api/users.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { FormDialog } from '../../components/FormDialog.tsx';
import { nameOf } from '../../formatting/person.ts';
import { roleLabel, texts as sharedTexts } from '../../language/texts.ts';
import { texts } from './texts.ts';

/** A role that this dialog can give: one of the roles that an approval can give, or administrator. */
type AssignableRole = GrantableRole | 'admin';

interface RoleDialogProps {
  /** An account with the status `active`. */
  readonly user: UserDetails;
  readonly onClose: () => void;
}

const roles: readonly AssignableRole[] = ['user', 'viewer', 'admin'];

/**
 * Dialog that changes the role of an active account. For the roles `user` and `viewer`, `changeRole` suspends the account and approves it
 * again with the new role; for `admin`, it promotes the account. The dialog says so before the administrator confirms.
 */
export function RoleDialog({ user, onClose }: RoleDialogProps) {
  const name = nameOf(user);
  const [role, setRole] = useState<AssignableRole | null>(null);
  const [isRunning, setRunning] = useState(false);

  async function submit() {
    if (role === null) return;
    setRunning(true);
    announceAction(await changeRole(user.uid, role), { about: name });
    onClose(); // also after a failure: the notification explains it
  }

  return (
    <FormDialog
      title={texts.changeRole}
      submitLabel={texts.save}
      isRunning={isRunning}
      isSubmitDisabled={role === null}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <Text>{texts.currentRole(name, roleLabel(user.role))}</Text>
      <Radio.Group
        label={sharedTexts.role}
        value={role}
        onChange={(value) => setRole(roles.find((option) => option === value) ?? null)}
      >
        <Stack gap="xs" mt="xs">
          {roles
            .filter((option) => option !== user.role)
            .map((option) => (
              <Radio
                key={option}
                value={option}
                label={roleLabel(option)}
                description={texts.roleHint[option]}
              />
            ))}
        </Stack>
      </Radio.Group>
      {role !== null && (
        <Text size="sm" role="status">
          {role === 'admin' ? texts.becomesAdmin : texts.becomesOther(roleLabel(role))}
        </Text>
      )}
    </FormDialog>
  );
}
