import { ResultKind } from '@lamina/contract';
import { Alert, FileInput, NativeSelect, Progress, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../../api/client.ts';
import { uploadResult } from '../../api/result-uploads.ts';
import { FormDialog } from '../../components/FormDialog.tsx';
import { kindOfFile, layerNameOf, maxNameLength, resultSuffixes } from './kind-of-file.ts';
import { RegistrationFields } from './RegistrationFields.tsx';
import { defaultRegistrationInput, registrationOf } from './registration-input.ts';
import { texts } from './texts.ts';

interface AddResultDialogProps {
  readonly imageId: string;
  readonly onClose: () => void;
  /** Called with the name of the layer when the file is uploaded; the server then imports the file. */
  readonly onAdded: (name: string) => void;
}

/**
 * A dialog to upload a result file (objects, a mask or a heatmap that a program has computed) as a new layer of the slide.
 * Closing the dialog cancels the upload.
 */
export function AddResultDialog({ imageId, onClose, onAdded }: AddResultDialogProps) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState('');
  const [kind, setKind] = useState<ResultKind>('vector');
  const [registrationInput, setRegistrationInput] = useState(defaultRegistrationInput);
  /** How coordinates of the file become pixels of the slide; null while the input is incomplete. */
  const registration = registrationOf(registrationInput);
  /** The fraction of the file that the browser has sent, 0 to 1; null while no upload is running. */
  const [sentShare, setSentShare] = useState<number | null>(null);
  /** Message about the last upload, if it failed; null otherwise. */
  const [failure, setFailure] = useState<string | null>(null);
  const runningUpload = useRef<AbortController>(null);
  useEffect(() => () => runningUpload.current?.abort(), []);
  const isRunning = sentShare !== null;

  const chooseFile = (newFile: File | null) => {
    setFile(newFile);
    setFailure(null);
    if (newFile === null) return;
    setName(layerNameOf(newFile.name));
    setKind(kindOfFile(newFile.name));
  };
  async function upload() {
    if (file === null || registration === null || isRunning) return;
    const abortController = new AbortController();
    runningUpload.current = abortController;
    setFailure(null);
    setSentShare(0);
    try {
      const layer = { imageId, name: name.trim(), kind, registration, file };
      await uploadResult({ ...layer, signal: abortController.signal, onProgress: setSentShare });
      if (!abortController.signal.aborted) onAdded(layer.name);
    } catch (error) {
      if (!abortController.signal.aborted) setFailure(messageOf(error, texts.uploadFailed));
    }
    setSentShare(null);
  }

  return (
    <FormDialog
      title={texts.add}
      languageBeforeChoice="en" // English buttons until the user chooses a language
      submitLabel={texts.upload}
      isRunning={isRunning}
      isSubmitDisabled={file === null || name.trim() === '' || registration === null}
      onSubmit={() => void upload()}
      onClose={onClose}
      stopLabel={texts.cancelUpload}
    >
      <FileInput
        label={texts.file}
        description={texts.fileHint}
        placeholder={texts.chooseFile}
        accept={resultSuffixes.join(',')}
        value={file}
        onChange={chooseFile}
        disabled={isRunning}
        clearable={false}
      />
      <TextInput
        label={texts.name}
        maxLength={maxNameLength}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        disabled={isRunning}
      />
      <NativeSelect
        label={texts.kind}
        value={kind}
        data={ResultKind.options.map((value) => ({ value, label: texts.kinds[value] }))}
        onChange={({ currentTarget }) => setKind(ResultKind.parse(currentTarget.value))}
        disabled={isRunning}
      />
      <RegistrationFields
        kind={kind}
        value={registrationInput}
        onChange={setRegistrationInput}
        isDisabled={isRunning}
      />
      {isRunning && (
        <>
          <Progress value={sentShare * 100} aria-label={texts.upload} />
          <Text size="sm">{texts.sent(sentShare)}</Text>
        </>
      )}
      {failure !== null && (
        <Alert color="red" role="alert">
          {failure}
        </Alert>
      )}
    </FormDialog>
  );
}
