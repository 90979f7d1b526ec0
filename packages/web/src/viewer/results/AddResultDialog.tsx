import { type ResultKind, ResultKind as ResultKinds } from '@lamina/contract';
import { Alert, FileInput, NativeSelect, Progress, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../../api/client.ts';
import { uploadResult } from '../../api/result-uploads.ts';
import { FormDialog } from '../../components/FormDialog.tsx';
import { kindOfFile, layerNameOf, resultSuffixes } from './kind-of-file.ts';
import { RegistrationFields } from './RegistrationFields.tsx';
import { registrationAtFirst, registrationOf } from './registration-input.ts';
import { texts } from './texts.ts';

interface AddResultDialogProps {
  readonly imageId: string;
  readonly onClose: () => void;
  /** Called when the server has the file. */
  readonly onAdded: (name: string) => void;
}

/** Uploads a result file as a new layer of the slide. Closing the dialog cancels the upload. */
export function AddResultDialog({ imageId, onClose, onAdded }: AddResultDialogProps) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState('');
  const [kind, setKind] = useState<ResultKind>('vector');
  const [typed, setTyped] = useState(registrationAtFirst);
  const registration = registrationOf(typed);
  /** Null: the upload is not running. */
  const [sent, setSent] = useState<number | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const upload = useRef<AbortController>(null);
  useEffect(() => () => upload.current?.abort(), []);
  const isRunning = sent !== null;

  const choose = (chosen: File | null) => {
    setFile(chosen);
    setFailure(null);
    if (chosen === null) return;
    setName(layerNameOf(chosen.name));
    setKind(kindOfFile(chosen.name));
  };
  async function start() {
    if (file === null || registration === null || isRunning) return;
    const end = new AbortController();
    upload.current = end;
    setFailure(null);
    setSent(0);
    try {
      const layer = { imageId, name: name.trim(), kind, registration, file };
      await uploadResult({ ...layer, signal: end.signal, onProgress: setSent });
      if (!end.signal.aborted) onAdded(layer.name);
    } catch (error) {
      if (!end.signal.aborted) setFailure(messageOf(error, texts.uploadFailed));
    }
    setSent(null);
  }

  return (
    <FormDialog
      title={texts.add}
      submitLabel={texts.upload}
      isRunning={isRunning}
      isSubmitDisabled={file === null || name.trim() === '' || registration === null}
      onSubmit={() => void start()}
      onClose={onClose}
      {...(isRunning && { cancelLabel: texts.cancelUpload })}
    >
      <FileInput
        label={texts.file}
        description={texts.fileHint}
        placeholder={texts.chooseFile}
        accept={resultSuffixes.join(',')}
        value={file}
        onChange={choose}
        disabled={isRunning}
        clearable={false}
      />
      <TextInput
        label={texts.name}
        maxLength={200}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        disabled={isRunning}
      />
      <NativeSelect
        label={texts.kind}
        value={kind}
        data={ResultKinds.options.map((value) => ({ value, label: texts.kinds[value] }))}
        onChange={({ currentTarget }) => setKind(ResultKinds.parse(currentTarget.value))}
        disabled={isRunning}
      />
      <RegistrationFields kind={kind} value={typed} onChange={setTyped} isDisabled={isRunning} />
      {isRunning && (
        <>
          <Progress value={sent * 100} aria-label={texts.upload} />
          <Text size="sm">{texts.sent(sent)}</Text>
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
