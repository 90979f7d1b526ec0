import { type ApiToken, apiTokenScopes } from '@lamina/contract';
import { Badge, Button, Code, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { formatDate, formatDateAndTime } from '../formatting/dates.ts';
import { chosenLanguageOr } from '../language/language.ts';
import classes from './ApiTokenRow.module.css';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { apiTokenTexts as texts } from './texts.ts';

interface ApiTokenRowProps {
  readonly token: ApiToken;
  /** The owner of the token; shown to administrators only. */
  readonly owner?: ReactNode;
  readonly onRevoke: () => Promise<void>;
}

/** One API token of a list, with a button that revokes it after a confirmation. */
export function ApiTokenRow({ token, owner, onRevoke }: ApiTokenRowProps) {
  const [isConfirmOpen, setConfirmOpen] = useState(false);
  return (
    <li className={classes.row}>
      <div className={classes.words}>
        <Group gap="xs">
          <Text fw={600}>{token.name}</Text>
          <Code>{`${token.prefix}…`}</Code>
        </Group>
        {owner}
        <Group gap={4} my={4}>
          {token.scopes.map((scope) => (
            <Badge key={scope} variant="light" tt="none">
              {apiTokenScopes[scope][chosenLanguageOr('tr')]}
            </Badge>
          ))}
        </Group>
        <Text size="sm" c="dimmed">
          {token.datasets === null ? texts.allDatasets : texts.datasets(token.datasets.join(', '))}
        </Text>
        <Text size="sm" c="dimmed">
          {`${texts.ends(formatDate(token.expires_at))} · `}
          {token.last_used_at === null
            ? texts.neverUsed
            : texts.lastUsed(formatDateAndTime(token.last_used_at))}
        </Text>
      </div>
      <Button
        size="sm"
        variant="default"
        onClick={() => setConfirmOpen(true)}
        aria-label={texts.revokeOf(token.name)}
      >
        {texts.revoke}
      </Button>
      {isConfirmOpen && (
        <ConfirmDialog
          title={texts.revokeQuestion}
          confirmLabel={texts.revoke}
          isDestructive
          onConfirm={async () => {
            await onRevoke();
            setConfirmOpen(false);
          }}
          onClose={() => setConfirmOpen(false)}
        >
          <Text>{texts.revokeHint(token.name)}</Text>
        </ConfirmDialog>
      )}
    </li>
  );
}
