import {
  type BodyInputOf,
  type createShareLink,
  type Language,
  shareLinkDefaultDays,
} from '@lamina/contract';
import { Alert, NumberInput, Stack, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { copyText } from '../browser/copy-text.ts';
import { FormDialog } from './FormDialog.tsx';
import { PasswordField } from './PasswordField.tsx';
import { shareDialogTexts } from './texts.ts';

const dayMs = 24 * 60 * 60_000;

type NewShareLink = BodyInputOf<typeof createShareLink>;

interface ShareDialogProps {
  readonly heading: string;
  readonly target: NewShareLink['target'];
  /** Proposed title; when it is empty, the person must enter one. */
  readonly proposedTitle?: string;
  /** Language of the dialog in the mixed interface. */
  readonly lang: Language;
  /** Creates the share link. @returns its URL, or an error message to show */
  readonly onMake: (link: NewShareLink) => Promise<{ readonly url: string } | { readonly error: string }>;
  readonly onClose: () => void;
}

/** Creates a share link and shows its URL, which the server never returns again. */
export function ShareDialog(props: ShareDialogProps) {
  const { heading, target, proposedTitle = '', lang, onMake, onClose } = props;
  const words = shareDialogTexts[lang];
  const [title, setTitle] = useState(proposedTitle);
  const [isMovable, setMovable] = useState(true);
  const [areAnnotationsShown, setAnnotationsShown] = useState(false);
  const [days, setDays] = useState<number | string>(shareLinkDefaultDays);
  const [openings, setOpenings] = useState<number | string>('');
  const [password, setPassword] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [url, setUrl] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isCopied, setCopied] = useState(false);

  async function createLink() {
    if (title.trim() === '') {
      setError(words.shareTitleRequired);
      return;
    }
    setRunning(true);
    const validDays = Math.max(1, Number(days) || shareLinkDefaultDays);
    const result = await onMake({
      target,
      title: title.trim(),
      expires_at: new Date(Date.now() + validDays * dayMs).toISOString(),
      ...(Number(openings) > 0 && { max_openings: Number(openings) }),
      ...(password !== '' && { password }),
      free_movement: isMovable,
      show_annotations: areAnnotationsShown,
    });
    setRunning(false);
    if ('error' in result) setError(result.error);
    else {
      setError(null);
      setUrl(result.url);
    }
  }

  if (url !== null) {
    return (
      <FormDialog
        title={words.shareMade}
        submitLabel={isCopied ? words.shareCopied : words.shareCopy}
        cancelLabel={words.shareDone}
        isRunning={false}
        onSubmit={() => void copyText(url).then(setCopied)}
        onClose={onClose}
      >
        <TextInput
          label={words.shareAddress}
          description={words.shareOnce}
          value={url}
          readOnly
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
      </FormDialog>
    );
  }
  return (
    <FormDialog
      title={heading}
      submitLabel={words.shareMake}
      isRunning={isRunning}
      onSubmit={() => void createLink()}
      onClose={onClose}
    >
      <Stack gap="sm">
        <TextInput
          label={words.shareTitle}
          description={words.shareTitleHint}
          value={title}
          maxLength={200}
          data-autofocus
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        />
        <NumberInput
          label={words.shareDays}
          min={1}
          max={365}
          allowDecimal={false}
          value={days}
          onChange={setDays}
        />
        <NumberInput
          label={words.shareOpenings}
          min={1}
          max={1_000_000}
          allowDecimal={false}
          value={openings}
          onChange={setOpenings}
        />
        <PasswordField
          label={words.sharePassword}
          autoComplete="new-password"
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <Switch
          label={words.shareMovement}
          checked={isMovable}
          onChange={({ currentTarget }) => setMovable(currentTarget.checked)}
        />
        <Switch
          label={words.shareAnnotations}
          description={words.shareAnnotationsHint}
          checked={areAnnotationsShown}
          onChange={({ currentTarget }) => setAnnotationsShown(currentTarget.checked)}
        />
        {error !== null && <Alert color="red">{error}</Alert>}
      </Stack>
    </FormDialog>
  );
}
