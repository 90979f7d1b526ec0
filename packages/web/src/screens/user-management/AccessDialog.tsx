import type { UserDetails } from '@lamina/contract';
import { Button, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { announce } from '../../announce.ts';
import { changeAccess } from '../../api/users.ts';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { nameOf } from '../../person.ts';
import { texts as shared } from '../../texts.ts';
import { TermsFields } from './TermsFields.tsx';
import { termsOf, toTerms } from './terms.ts';
import { texts } from './texts.ts';

interface AccessDialogProps {
  /** Active. */
  readonly user: UserDetails;
  readonly onClose: () => void;
}

/** What an active account may see, and how long. */
export function AccessDialog({ user, onClose }: AccessDialogProps) {
  useReturnFocus();
  const [terms, setTerms] = useState(termsOf(user));
  const [isRunning, setRunning] = useState(false);

  async function submit() {
    setRunning(true);
    const result = await changeAccess(user.uid, toTerms(terms));
    setRunning(false);
    announce(result);
    if (result.success) onClose();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.editAccess}
      closeButtonProps={{ 'aria-label': shared.close }}
      centered
      withinPortal={false}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
        noValidate
      >
        <Stack>
          <Text>{texts.editAccessHint(nameOf(user))}</Text>
          <TermsFields terms={terms} onChange={setTerms} />
          <Button type="submit" loading={isRunning}>
            {texts.save}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
