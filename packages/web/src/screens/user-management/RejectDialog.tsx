import { reasonMaxLength, type UserDetails } from '@lamina/contract';
import { Button, Group, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { reject } from '../../api/users.ts';
import { FormDialog } from '../../components/FormDialog.tsx';
import { nameOf } from '../../formatting/person.ts';
import { DecisionState } from './DecisionState.tsx';
import { texts } from './texts.ts';
import { useDecision } from './use-decision.ts';

interface RejectDialogProps {
  /** Not empty. All applicants receive the same reason. */
  readonly applicants: readonly UserDetails[];
  readonly onClose: () => void;
}

/** Dialog that rejects one or several applications with a required reason, which the applicants can read. */
export function RejectDialog({ applicants, onClose }: RejectDialogProps) {
  const [firstApplicant] = applicants;
  const [reasonInput, setReasonInput] = useState('');
  const [isReasonMissing, setReasonMissing] = useState(false);
  const reason = reasonInput.trim();
  const { run, stop, isRunning, progress, failedDecisions } = useDecision({
    applicants,
    decideOne: (uid) => reject(uid, reason),
    successMessage: texts.rejectedMany,
    onDone: onClose,
  });

  function submit() {
    setReasonMissing(reason === '');
    if (reason !== '') void run({ kind: 'reject', reason });
  }

  return (
    <FormDialog
      title={texts.rejectTitle}
      submitLabel={failedDecisions.length > 0 ? texts.tryAgain : texts.reject}
      isDestructive
      isRunning={isRunning}
      onSubmit={submit}
      // While decisions run, the cancel button stops them; `onDone` closes the dialog, unless a decision failed.
      onClose={isRunning ? stop : onClose}
      stopLabel={texts.stop}
    >
      <Text>
        {applicants.length === 1 && firstApplicant
          ? texts.rejectOne(nameOf(firstApplicant))
          : texts.rejectMany(applicants.length)}
      </Text>
      <Textarea
        label={texts.reason}
        description={texts.reasonHint}
        rows={3}
        resize="vertical"
        maxLength={reasonMaxLength}
        value={reasonInput}
        error={isReasonMissing && texts.reasonRequired}
        onChange={(event) => setReasonInput(event.currentTarget.value)}
        data-autofocus
      />
      <Group gap="xs" role="group" aria-label={texts.reasonTemplates}>
        {texts.reasons.map(({ name, text }) => (
          <Button key={name} size="compact-sm" variant="default" onClick={() => setReasonInput(text)}>
            {name}
          </Button>
        ))}
      </Group>
      <DecisionState progress={progress} failedDecisions={failedDecisions} />
    </FormDialog>
  );
}
