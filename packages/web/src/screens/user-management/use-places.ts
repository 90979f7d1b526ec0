import type { LikelyDuplicate, UserDetails } from '@lamina/contract';
import { type RefObject, useEffect, useState } from 'react';
import { undoMs } from '../../components/announce-action.tsx';

export interface Application {
  readonly user: UserDetails;
  readonly duplicates: readonly LikelyDuplicate[];
}

/**
 * - `approving`: the call is on its way; the row is as before
 * - `approved`: the row says so
 * - `withdrawn`: the approval was taken back; the row says so until the queue has the person again
 */
type Phase = 'approving' | 'approved' | 'withdrawn';

interface Held {
  readonly phase: Phase;
  /** Of the row when it was pressed, in pixels. */
  readonly height: number;
}

export interface Place extends Application {
  /** What the row says in place of the application; null: the application. */
  readonly decided: { readonly phase: 'approved' | 'withdrawn'; readonly height: number } | null;
}

interface Places {
  readonly places: readonly Place[];
  readonly hold: (uid: string, phase: Phase, height: number) => void;
  readonly release: (uid: string) => void;
}

/** How often the list checks whether the rows of decided people may be removed. */
const lookEveryMs = 1000;

/**
 * The queue with a place for each person that was approved here: the rows below do not move while the pointer is on the
 * list, so that no click meets another person than it was meant for. The places go 10 s after the last decision, once
 * neither the pointer is on the list nor the focus of the keyboard in such a row.
 */
export function usePlaces(applications: readonly Application[], list: RefObject<HTMLElement | null>): Places {
  const [order, setOrder] = useState(applications);
  const [held, setHeld] = useState<ReadonlyMap<string, Held>>(new Map());
  const [lastAt, setLastAt] = useState(0);

  const current = new Map(applications.map((application) => [application.user.uid, application]));
  const staying = order.filter(({ user: { uid } }) => current.has(uid) || held.has(uid));
  const known = new Set(staying.map(({ user }) => user.uid));
  const shown =
    held.size === 0
      ? applications
      : [
          ...staying.map((application) => current.get(application.user.uid) ?? application),
          ...applications.filter(({ user }) => !known.has(user.uid)),
        ];
  if (shown.length !== order.length || shown.some((application, place) => application !== order[place])) {
    setOrder(shown);
  }

  useEffect(() => {
    if (held.size === 0) return;
    const timer = setInterval(() => {
      if (Date.now() - lastAt < undoMs || list.current?.matches(':hover')) return;
      const focus = document.activeElement;
      if (focus?.matches(':focus-visible') && focus.closest('[data-decided]') !== null) return;
      setHeld(new Map([...held].filter(([, { phase }]) => phase === 'approving')));
    }, lookEveryMs);
    return () => clearInterval(timer);
  }, [held, lastAt, list]);

  return {
    places: shown.map((application) => {
      const { phase = null, height = 0 } = held.get(application.user.uid) ?? {};
      const isBack = phase === 'withdrawn' && current.has(application.user.uid);
      const decided = phase === null || phase === 'approving' || isBack ? null : { phase, height };
      return { ...application, decided };
    }),
    hold: (uid, phase, height) => {
      setLastAt(Date.now());
      setHeld((before) => new Map(before).set(uid, { phase, height }));
    },
    release: (uid) => setHeld((before) => new Map([...before].filter(([each]) => each !== uid))),
  };
}
