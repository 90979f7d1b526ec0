import type { GrantableRole, UserDetails } from '@lamina/contract';
import { Button, Modal, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { approveWith } from '../../api/users.ts';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { nameOf } from '../../person.ts';
import { roleLabel, texts as shared } from '../../texts.ts';
import { decideAll, type Undecided } from './decide-all.ts';
import { TermsFields } from './TermsFields.tsx';
import { noTerms, termsOf, toTerms } from './terms.ts';
import { texts } from './texts.ts';
import { UndecidedList } from './UndecidedList.tsx';

interface ApproveDialogProps {
  /** One or several. */
  readonly people: readonly UserDetails[];
  readonly onClose: () => void;
}

const roles: readonly GrantableRole[] = ['user', 'viewer'];

/** Approving with a role, datasets and an end date, the same for all of them. */
export function ApproveDialog({ people, onClose }: ApproveDialogProps) {
  useReturnFocus();
  const [first] = people;
  const [role, setRole] = useState<GrantableRole>('user');
  const [terms, setTerms] = useState(people.length === 1 && first ? termsOf(first) : noTerms);
  const [undecided, setUndecided] = useState<readonly Undecided[]>([]);
  const [isRunning, setRunning] = useState(false);
  const left = undecided.length > 0 ? undecided.map(({ user }) => user) : people;

  async function submit() {
    setRunning(true);
    const failed = await decideAll(left, (uid) => approveWith(uid, role, toTerms(terms)), texts.approvedMany);
    setRunning(false);
    setUndecided(failed);
    if (failed.length === 0) onClose();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.approveTitle}
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
            {people.length === 1 && first
              ? texts.approveOne(nameOf(first))
              : texts.approveMany(people.length)}
          </Text>
          <Radio.Group
            label={shared.role}
            value={role}
            onChange={(value) => setRole(value === 'viewer' ? 'viewer' : 'user')}
          >
            <Stack gap="xs" mt="xs">
              {roles.map((each) => (
                <Radio
                  key={each}
                  value={each}
                  label={roleLabel(each)}
                  description={texts.roleHint[each]}
                  data-autofocus={each === role || undefined}
                />
              ))}
            </Stack>
          </Radio.Group>
          <TermsFields terms={terms} onChange={setTerms} />
          <UndecidedList undecided={undecided} />
          <Button type="submit" loading={isRunning}>
            {undecided.length > 0 ? texts.tryAgain : texts.approve}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
