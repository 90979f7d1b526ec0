import type { Image } from '@lamina/contract';
import { Alert, Button, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { IconBookmarkPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { addView, type NewSavedView } from '../../api/collections.ts';
import { FormDialog } from '../../components/FormDialog.tsx';
import { announce } from '../../notifications/notify.ts';
import type { SlideView } from '../../viewer/slide-view.ts';
import { fieldOf, type StoredColours } from '../../viewer/tour/steps.ts';
import { texts } from './texts.ts';

interface SaveViewProps {
  readonly image: Image;
  readonly view: SlideView;
  /** Whether the colour profile of the slide corrects its colours. */
  readonly isCorrected: boolean;
  /** The shown result layers (computed rasters and objects of the slide), in the format of the URL; null when there are none. */
  readonly results: string | null;
}

/** A button that saves the field (visible part), colours and result layers of a slide as a view with a title, for collections. */
export function SaveView({ image, view, isCorrected, results }: SaveViewProps) {
  /** The view at the moment when the user pressed the button; null while the dialog is closed. */
  const [viewToSave, setViewToSave] = useState<Pick<NewSavedView, 'field' | 'colours' | 'layers'> | null>(
    null,
  );
  function openDialog() {
    const viewerField = view.destination(); // the field at which a running movement ends; null while no slide is open
    if (viewerField === null) return;
    const colours: StoredColours = {
      profile: isCorrected ? 'corrected' : 'scanned',
      adjustment: view.adjustment(),
    };
    setViewToSave({ field: fieldOf(viewerField), colours, ...(results !== null && { layers: { results } }) });
  }
  return (
    <>
      <Button
        size="xs"
        variant="default"
        mt="xs"
        leftSection={<IconBookmarkPlus size={16} aria-hidden />}
        onClick={openDialog}
      >
        {texts.saveView}
      </Button>
      {viewToSave !== null && (
        <SaveDialog imageId={image.id} viewToSave={viewToSave} onClose={() => setViewToSave(null)} />
      )}
    </>
  );
}

interface SaveDialogProps {
  readonly imageId: string;
  readonly viewToSave: Pick<NewSavedView, 'field' | 'colours' | 'layers'>;
  readonly onClose: () => void;
}

function SaveDialog({ imageId, viewToSave, onClose }: SaveDialogProps) {
  const [title, setTitle] = useState('');
  const [text, setText] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function save() {
    if (title.trim() === '') return setError(texts.viewTitleRequired);
    setRunning(true);
    const result = await addView({
      image_id: imageId,
      title: title.trim(),
      ...(text.trim() !== '' && { text: text.trim() }),
      ...viewToSave,
    });
    setRunning(false);
    if (!result.success) return setError(result.message);
    announce(result);
    onClose();
  }

  return (
    <FormDialog
      title={texts.saveViewHeading}
      languageBeforeChoice="en" // until the user chooses a language
      submitLabel={texts.save}
      isRunning={isRunning}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {texts.viewHint}
        </Text>
        <TextInput
          label={texts.viewTitle}
          value={title}
          maxLength={200} // all lengths in this file are limits of the API
          data-autofocus
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        />
        <Textarea
          label={texts.viewText}
          autosize
          minRows={2}
          maxRows={8}
          maxLength={4000}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        {error !== null && <Alert color="red">{error}</Alert>}
      </Stack>
    </FormDialog>
  );
}
