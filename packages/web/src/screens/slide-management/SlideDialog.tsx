import { useState } from 'react';
import { Dialog } from '../../components/Dialog.tsx';
import type { DialogRequest } from './dialog-request.ts';
import { EditForm } from './EditForm.tsx';
import { MoveForm } from './MoveForm.tsx';
import { OrganForm } from './OrganForm.tsx';
import { RemoveForm } from './RemoveForm.tsx';
import { texts } from './texts.ts';

interface SlideDialogProps {
  readonly request: DialogRequest;
  readonly onClose: () => void;
  /** Called after the slides have been changed. */
  readonly onDone: () => void;
}

const forms = { edit: EditForm, move: MoveForm, organ: OrganForm, remove: RemoveForm };

/** Dialog of the slides screen in which an administrator edits, moves or removes slides, or sets their organ. */
export function SlideDialog({ request: { kind, slides }, onClose, onDone }: SlideDialogProps) {
  const [isRunning, setRunning] = useState(false);
  const Form = forms[kind];
  const titles = {
    edit: texts.editTitle,
    move: texts.moveTitle,
    organ: texts.organTitle,
    remove: texts.removeTitle,
  };
  return (
    <Dialog title={titles[kind]} centered isRunning={isRunning} onClose={onClose}>
      <Form slides={slides} isRunning={isRunning} setRunning={setRunning} onClose={onClose} onDone={onDone} />
    </Dialog>
  );
}
