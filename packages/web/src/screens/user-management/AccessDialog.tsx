import type { UserDetails } from '@lamina/contract';
import { Text } from '@mantine/core';
import { useState } from 'react';
import { changeAccess } from '../../api/users.ts';
import { FormDialog } from '../../components/FormDialog.tsx';
import { nameOf } from '../../formatting/person.ts';
import { announce } from '../../notifications/notify.ts';
import { TermsFields } from './TermsFields.tsx';
import { toApiTerms, toFormTerms } from './terms.ts';
import { texts } from './texts.ts';
import { useTerms } from './use-terms.ts';

interface AccessDialogProps {
  /** An account with the status `active`. */
  readonly user: UserDetails;
  readonly onClose: () => void;
}

/** Dialog that changes the terms of an active account: its restricted datasets and its end date. */
export function AccessDialog({ user, onClose }: AccessDialogProps) {
  const { terms, fields, validate } = useTerms(toFormTerms(user));
  const [isRunning, setRunning] = useState(false);

  async function submit() {
    if (!validate()) return;
    setRunning(true);
    const result = await changeAccess(user.uid, toApiTerms(terms));
    setRunning(false);
    announce(result);
    if (result.success) onClose();
  }

  return (
    <FormDialog
      title={texts.editAccess}
      submitLabel={texts.save}
      isRunning={isRunning}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <Text>{texts.editAccessHint(nameOf(user))}</Text>
      <TermsFields {...fields} />
    </FormDialog>
  );
}
