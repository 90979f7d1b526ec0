import { reasonMaxLength, type UserDetails } from '@lamina/contract';
import { Button, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { reject } from '../../api/users.ts';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { nameOf } from '../../person.ts';
import { texts as shared } from '../../texts.ts';
import { decideAll, type Undecided } from './decide-all.ts';
import { texts } from './texts.ts';
import { UndecidedList } from './UndecidedList.tsx';

interface RejectDialogProps {
  /** One or several; all are told the same. */
  readonly people: readonly UserDetails[];
  readonly onClose: () => void;
}

/** Refusing an application, with a reason that the person reads. */
export function RejectDialog({ people, onClose }: RejectDialogProps) {
  useReturnFocus();
  const [first] = people;
  const [reason, setReason] = useState('');
  const [isMissing, setMissing] = useState(false);
  const [undecided, setUndecided] = useState<readonly Undecided[]>([]);
  const [isRunning, setRunning] = useState(false);
  const left = undecided.length > 0 ? undecided.map(({ user }) => user) : people;

  async function submit() {
    const said = reason.trim();
    setMissing(said === '');
    if (said === '') return;
    setRunning(true);
    const failed = await decideAll(left, (uid) => reject(uid, said), texts.rejectedMany);
    setRunning(false);
    setUndecided(failed);
    if (failed.length === 0) onClose();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.rejectTitle}
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
          <Text>
            {people.length === 1 && first ? texts.rejectOne(nameOf(first)) : texts.rejectMany(people.length)}
          </Text>
          <Textarea
            label={texts.reason}
            description={texts.reasonHint}
            rows={3}
            resize="vertical"
            maxLength={reasonMaxLength}
            value={reason}
            error={isMissing && texts.reasonRequired}
            onChange={(event) => setReason(event.currentTarget.value)}
            data-autofocus
          />
          <UndecidedList undecided={undecided} />
          <Button type="submit" color="eosin" loading={isRunning}>
            {undecided.length > 0 ? texts.tryAgain : texts.reject}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
