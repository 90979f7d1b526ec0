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
  readonly applicants: readonly UserDetails[];
  readonly onClose: () => void;
}

const roles: readonly GrantableRole[] = ['user', 'viewer'];

/** Dialog that approves one or several applicants with the same role and the same terms (their restricted datasets and end date). */
export function ApproveDialog({ applicants, onClose }: ApproveDialogProps) {
  const [firstApplicant] = applicants;
  const [role, setRole] = useState<GrantableRole>('user');
  const { terms, fields, validate } = useTerms(
    // An approval replaces all terms, so the fields begin with those that a single applicant already has.
    applicants.length === 1 && firstApplicant ? toFormTerms(firstApplicant) : noTerms,
  );
  const { run, stop, isRunning, progress, failedDecisions } = useDecision({
    applicants,
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
        if (validate()) void run({ kind: 'approve', role, terms: toApiTerms(terms) });
      }}
      // While decisions run, the cancel button stops them; `onDone` closes the dialog, unless a decision failed.
      onClose={isRunning ? stop : onClose}
      stopLabel={texts.stop}
    >
      <Text>
        {applicants.length === 1 && firstApplicant
          ? texts.approveOne(nameOf(firstApplicant))
          : texts.approveMany(applicants.length)}
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
