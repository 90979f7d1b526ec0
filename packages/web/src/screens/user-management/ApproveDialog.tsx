import type { GrantableRole, UserDetails } from '@lamina/contract';
import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { approveWithTerms, withdrawApproval } from '../../api/users.ts';
import { FormDialog } from '../../components/FormDialog.tsx';
import { nameOf } from '../../formatting/person.ts';
import { roleLabel, texts as sharedTexts } from '../../language/texts.ts';
import { DecisionState } from './DecisionState.tsx';
import { TermsFields } from './TermsFields.tsx';
import { noTerms, toApiTerms, toFormTerms } from './terms.ts';
import { texts } from './texts.ts';
import { useDecision } from './use-decision.ts';
import { useTerms } from './use-terms.ts';

interface ApproveDialogProps {
  /** Not empty. */
  readonly people: readonly UserDetails[];
  readonly onClose: () => void;
}

const roles: readonly GrantableRole[] = ['user', 'viewer'];

/** Dialog that approves one or several applicants with the same role and the same terms (their restricted datasets and end date). */
export function ApproveDialog({ people, onClose }: ApproveDialogProps) {
  const [firstPerson] = people;
  const [role, setRole] = useState<GrantableRole>('user');
  const { terms, fields, check } = useTerms(
    people.length === 1 && firstPerson ? toFormTerms(firstPerson) : noTerms,
  );
  const { run, stop, isRunning, progress, failedDecisions } = useDecision({
    people,
    decideOne: (uid) => approveWithTerms(uid, role, toApiTerms(terms)),
    undoOne: withdrawApproval,
    successMessage: texts.approvedMany,
    onDone: onClose,
  });

  return (
    <FormDialog
      title={texts.approveTitle}
      submitLabel={failedDecisions.length > 0 ? texts.tryAgain : texts.approve}
      isRunning={isRunning}
      onSubmit={() => {
        if (check()) void run({ kind: 'approve', role, terms: toApiTerms(terms) });
      }}
      // While decisions run, the cancel button stops them; `onDone` closes the dialog, unless a decision failed.
      onClose={isRunning ? stop : onClose}
      stopLabel={texts.stop}
    >
      <Text>
        {people.length === 1 && firstPerson
          ? texts.approveOne(nameOf(firstPerson))
          : texts.approveMany(people.length)}
      </Text>
      <Radio.Group
        label={sharedTexts.role}
        value={role}
        onChange={(value) => setRole(value === 'viewer' ? 'viewer' : 'user')}
      >
        <Stack gap="xs" mt="xs">
          {roles.map((option) => (
            <Radio
              key={option}
              value={option}
              label={roleLabel(option)}
              description={texts.roleHint[option]}
              data-autofocus={option === role || undefined}
            />
          ))}
        </Stack>
      </Radio.Group>
      <TermsFields {...fields} />
      <DecisionState progress={progress} failedDecisions={failedDecisions} />
    </FormDialog>
  );
}
