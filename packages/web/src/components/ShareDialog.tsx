import {
  type BodyInputOf,
  type createShareLink,
  type Language,
  maxShareLinkOpenings,
  shareLinkDefaultDays,
} from '@lamina/contract';
import { Alert, NumberInput, Stack, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { copyText } from '../browser/copy-text.ts';
import { FormDialog } from './FormDialog.tsx';
import { PasswordField } from './PasswordField.tsx';
import { shareDialogTexts } from './texts.ts';

const dayMs = 24 * 60 * 60_000;
/** The API rejects links that are valid for more than a year. */
const maxDays = 365;

type NewShareLink = BodyInputOf<typeof createShareLink>;

interface ShareDialogProps {
  readonly heading: string;
  readonly target: NewShareLink['target'];
  /** Proposed title; when it is empty, the user must enter one. */
  readonly proposedTitle?: string;
  /** Language of the dialog until the user chooses one. */
  readonly languageBeforeChoice: Language;
  /** Creates the share link. @returns its URL, or an error message to show */
  readonly onCreate: (
    link: NewShareLink,
    languageBeforeChoice: Language,
  ) => Promise<{ readonly url: string } | { readonly error: string }>;
  readonly onClose: () => void;
}

/** Creates a share link and shows its URL, which the server never returns again. */
export function ShareDialog(props: ShareDialogProps) {
  const { heading, target, proposedTitle = '', languageBeforeChoice, onCreate, onClose } = props;
  const texts = shareDialogTexts[languageBeforeChoice];
  const [title, setTitle] = useState(proposedTitle);
  const [isMovementFree, setMovementFree] = useState(true); // whether visitors may move and zoom the slides
  const [areAnnotationsShown, setAnnotationsShown] = useState(false);
  // The value of Mantine's NumberInput is the string '' while the field is empty. An empty `maxOpenings` means no limit.
  const [days, setDays] = useState<number | string>(shareLinkDefaultDays);
  const [maxOpenings, setMaxOpenings] = useState<number | string>('');
  const areDaysValid = days === '' || isWholeNumberTo(maxDays, days);
  const areOpeningsValid = maxOpenings === '' || isWholeNumberTo(maxShareLinkOpenings, maxOpenings);
  /** Whether the user has tried to create a link: the number fields then show errors. */
  const [areNumbersChecked, setNumbersChecked] = useState(false);
  const [password, setPassword] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [url, setUrl] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isCopied, setCopied] = useState(false);

  async function createLink() {
    if (title.trim() === '') {
      setError(texts.shareTitleRequired);
      return;
    }
    setError(null);
    setNumbersChecked(true);
    if (!areDaysValid || !areOpeningsValid) return; // the fields show the limits
    setRunning(true);
    const validDays = days === '' ? shareLinkDefaultDays : Number(days);
    const link = {
      target,
      title: title.trim(),
      expires_at: new Date(Date.now() + validDays * dayMs).toISOString(),
      ...(maxOpenings !== '' && { max_openings: Number(maxOpenings) }),
      ...(password !== '' && { password }),
      free_movement: isMovementFree,
      show_annotations: areAnnotationsShown,
    };
    const result = await onCreate(link, languageBeforeChoice);
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
        title={texts.shareMade}
        languageBeforeChoice={languageBeforeChoice}
        submitLabel={isCopied ? texts.shareCopied : texts.shareCopy}
        cancelLabel={texts.shareDone}
        isRunning={false}
        onSubmit={() => void copyText(url).then(setCopied)}
        onClose={onClose}
      >
        <TextInput
          label={texts.shareAddress}
          description={texts.shareOnce}
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
      languageBeforeChoice={languageBeforeChoice}
      submitLabel={texts.shareMake}
      isRunning={isRunning}
      onSubmit={() => void createLink()}
      onClose={onClose}
    >
      <Stack gap="sm">
        <TextInput
          label={texts.shareTitle}
          description={texts.shareTitleHint}
          value={title}
          maxLength={200} // limit of the API
          data-autofocus
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        />
        <NumberInput
          label={texts.shareDays}
          min={1}
          max={maxDays}
          allowDecimal={false}
          clampBehavior="none" // an invalid number gets an error instead of another value
          error={areNumbersChecked && !areDaysValid && texts.shareNumber(1, maxDays)}
          value={days}
          onChange={setDays}
        />
        <NumberInput
          label={texts.shareOpenings}
          min={1}
          max={maxShareLinkOpenings}
          allowDecimal={false}
          clampBehavior="none"
          error={areNumbersChecked && !areOpeningsValid && texts.shareNumber(1, maxShareLinkOpenings)}
          value={maxOpenings}
          onChange={setMaxOpenings}
        />
        <PasswordField
          label={texts.sharePassword}
          languageBeforeChoice={languageBeforeChoice}
          autoComplete="new-password"
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <Switch
          label={texts.shareMovement}
          checked={isMovementFree}
          onChange={({ currentTarget }) => setMovementFree(currentTarget.checked)}
        />
        <Switch
          label={texts.shareAnnotations}
          description={texts.shareAnnotationsHint}
          checked={areAnnotationsShown}
          onChange={({ currentTarget }) => setAnnotationsShown(currentTarget.checked)}
        />
        {error !== null && <Alert color="red">{error}</Alert>}
      </Stack>
    </FormDialog>
  );
}

/** Whether a typed number is an integer from 1 to `max`. */
function isWholeNumberTo(max: number, typed: number | string): boolean {
  const value = Number(typed);
  return Number.isInteger(value) && value >= 1 && value <= max;
}
